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
