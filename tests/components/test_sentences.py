"""What the picture of the flow says of a row of weights while the browser computes it, in node."""

import pytest

from tests.components.in_node import call_in_node

HEADLINE = """(shares, texts) => {
  globalThis.document = { documentElement: { lang: "en" } };
  const flow = {
    isDragged: true, asking: "it", glow: null,
    data: { text: texts, hears: false },
    model: { keys: ["dog", "fed", "cat"], mostOf: (of) => of.indexOf(Math.max(...of)) },
  };
  const sentences = Object.create(Sentences.prototype, { flow: { value: flow } });
  return sentences.headlineOf(shares, null, false, 0).map(([text]) => text).join("");
}"""
TEXTS = {
    "headline": "{query} attends to {key}, {percent}",
    "tied": "{query} gives {percent} each to {count} words",
    "evenly": "{query} attends evenly",
}


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ([0.8, 0.1, 0.1], "it attends to dog, 80 %"),
        ([0.45, 0.1, 0.45], "it gives 45 % each to 2 words"),
        ([1 / 3, 1 / 3, 1 / 3], "it attends evenly"),
    ],
)
def test_a_tie_has_no_winner_while_a_knob_is_held(shares, says):
    assert call_in_node("flow/sentences", HEADLINE, shares, TEXTS) == says


COUNTED = """(data) => {
  const texts = {
    all: "{count} heads at a glance", both: "{a} heads in A, {b} in B", layers: "{layers} layers × {count} heads",
    why: "", why_one: "",
  };
  const sentences = Object.create(Sentences.prototype, {
    flow: { value: { asking: "it", data: { layers: {}, random: false, text: { heads: texts }, ...data } } },
  });
  return sentences.headsLine()[0][0];
}"""


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"heads": 2}, "2 heads at a glance"),
        ({"heads": 1}, "1 head at a glance"),
        ({"heads": 1, "heads_of_a": [0] * 5, "no_difference": "5 × 7", "reads": {"side": "a"}}, "5 heads at a glance"),
        ({"heads": 1, "heads_of_a": [0] * 5, "no_difference": "5 × 7", "reads": {"side": "b"}}, "1 head at a glance"),
        ({"heads": 1, "heads_of_a": [0] * 5, "reads": {"side": "together"}}, "5 heads in A, 1 in B"),
        ({"heads": 3, "heads_of_a": [0] * 3, "reads": {"side": "together"}}, "3 heads in A, 3 in B"),
        ({"heads": 4, "layers": {"now": 1, "names": [[0] * 4] * 3}}, "3 layers × 4 heads"),
    ],
)
def test_the_headline_of_the_heads_counts_the_maps_that_are_shown(data, says):
    assert call_in_node("flow/sentences", COUNTED, data) == says
