"""What the picture of the flow draws of one query's way, in node, against numbers written by hand."""

from tests.components.in_node import call_in_node

SNAPSHOT = """(scores, factor) => {
  const steps = {
    scores: { dims: ["T", "S"], shape: [1, 3], value: scores },
    scaled_scores: { dims: ["T", "S"], shape: [1, 3], value: scores.map((score) => score * factor) },
    weights: { dims: ["T", "S"], shape: [1, 3], value: [0.2, 0.5, 0.3] },
  };
  const part = (name, reads, motion) => ({ name, role: "pair", reads, motion, is_share: name === "weights" });
  const parts = [
    part("scores", [], "match"), part("scaled_scores", ["scores"], "scale"),
    part("weights", ["scaled_scores"], "share"),
  ];
  const stops = parts.map(({ name, motion }) => ({ motion, parts: [name] }));
  const model = new Model({ parts, stops, steps, words: { T: ["it"], S: ["the", "dog", "it"] }, heads: 1 });
  return model.snapshot({ query: 0, head: 0, batch: 0 }).stops.map(({ motion }) => motion);
}"""


def test_a_division_stays_in_a_row_whose_scores_are_all_zero():
    for scores in ([3, -2, 7], [0, 0, 0]):
        assert call_in_node("flow/model", SNAPSHOT, scores, 0.5) == ["match", "scale", "share"]
