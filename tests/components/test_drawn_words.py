"""The words at the left of the picture of the flow, in node: none is cut, also not the larger word that asks."""

import pytest

from tests.components.in_node import call_in_node

DRAWN = """(words, asks, unit, height = 40) => {
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
      rowY: words.map((_, i) => height * i), rowHeight: words.map(() => height), laneBehind: asks,
      frame: { wordSize, wordWidth: longest * wordSize + 26 * unit, crossed: false },
    },
    put: (layer, kind, key, { text, y, "font-size": size }) => layer === "texts" && (drawn[key] = [text, size, y]),
  });
  return words.map((_, row) => drawn[`word ${row}`]);
}"""


@pytest.mark.parametrize("unit", [0.62, 0.83, 1.2])  # a phone, a lesson, a page 1280 px wide
def test_no_word_is_cut_and_a_short_one_that_asks_is_larger(unit):
    words = ["extraordinarily", "it", "purred"]
    for asks in range(3):
        drawn = call_in_node("flow/picture/lane", DRAWN, words, asks, unit)
        assert [text for text, *_ in drawn] == words
        assert all(size >= 11 for _, size, _ in drawn)
    assert call_in_node("flow/picture/lane", DRAWN, words, 1, 0.62)[1][1] == 20


def test_in_low_rows_the_larger_word_that_asks_covers_no_word_above_it():
    above, asking, below = call_in_node("flow/picture/lane", DRAWN, ["dog #167", "it #168", "Anna"], 1, 1, 16)
    assert (asking[1], above[2], below[2]) == (20, 0, 32)
    assert asking[2] - asking[1] / 2 >= above[2] + 16 / 2  # it begins where the row above ends
