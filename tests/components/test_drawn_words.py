"""The words at the left of the picture of the flow, in node: none is cut, also not the larger word that asks."""

import pytest

from tests.components.in_node import call_in_node

DRAWN = """(words, asks, unit) => {
  globalThis.document = { body: {}, createElement: () => ({ getContext: () => ({ measureText }) }) };
  globalThis.getComputedStyle = () => ({ fontFamily: "" });
  const measureText = (text) => ({ width: 55 * text.length }); // at 100 px
  const wordSize = 24 * unit;
  const longest = Math.max(...words.map((word) => 0.55 * word.length));
  const drawn = {};
  drawWords({
    unit, words, rows: words.length, hovered: null, isMarked: () => false, isRest: () => false, titleOf: () => "",
    snapshot: { share: { name: "weights" } },
    layout: {
      x: { weights: 600 },
      rowY: words.map((_, i) => 40 * i), rowHeight: words.map(() => 40), laneBehind: asks,
      frame: { wordSize, wordWidth: longest * wordSize + 26 * unit, crossed: false },
    },
    put: (layer, kind, key, { text, "font-size": size }) => layer === "texts" && (drawn[key] = [text, size]),
  });
  return words.map((_, row) => drawn[`word ${row}`]);
}"""


@pytest.mark.parametrize("unit", [0.62, 0.83, 1.2])  # a phone, a lesson, a page 1280 px wide
def test_no_word_is_cut_and_a_short_one_that_asks_is_larger(unit):
    words = ["extraordinarily", "it", "purred"]
    for asks in range(3):
        drawn = call_in_node("flow/picture/lane", DRAWN, words, asks, unit)
        assert [text for text, _ in drawn] == words
        assert all(size >= 11 for _, size in drawn)
    assert call_in_node("flow/picture/lane", DRAWN, words, 1, 0.62)[1][1] == 20
