"""Where the picture of the flow has its rows, its lane and its columns, against lengths worked out by hand."""

import math

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.drawing.flow import FlowGraph, flow_parts, part_sign
from tests.components.in_node import call_in_node
from tests.drawing.test_flow import layer
from tests.formulas import RUNS

SCORES = {"name": "scores", "role": "pair", "column": 1}
KEYS = {"name": "k", "role": "row", "column": 0}
FRAME = {
    "width": 1000, "height": 500, "unit": 1, "compact": False, "wordWidth": 100, "roleWidth": 0, "endWidth": 60,
    "reserve": 0, "open": None, "current": [],
}  # fmt: skip
LAY_OUT = """(parts, shares, frame, width) => {
  const count = (role) => shares.length * (role === "pair" ? 1 : 3);
  const numbers = Object.fromEntries(parts.map(({ name, role }) => [name, Array(count(role))]));
  const snapshot = { parts, numbers, shares, asks: 1 };
  const shown = new Set(parts.map(({ name }) => name));
  const layout = layOut(snapshot, { ...frame, shown, headWidth: () => width });
  return { ...layout, rowY: [...layout.rowY], rowHeight: [...layout.rowHeight], folded: [...layout.folded] };
}"""


def lay_out(parts=(SCORES,), shares=(0.5, 0.3, 0.2), head_width: float = 30, **frame) -> dict:
    return call_in_node("flow/layout", LAY_OUT, list(parts), list(shares), FRAME | frame, head_width)


def test_rows_stand_in_the_middle_and_the_lane_behind_the_row_that_asks():
    layout = lay_out()
    # 500 high: head 50, lane 76 + 14, 8 below; 352 are left for three rows of at most 78, in their middle
    assert layout["rowHeight"] == [78, 78, 78]
    assert layout["rowY"] == [148, 226, 394]
    assert (layout["laneY"], layout["laneHeight"], layout["stick"]) == (310, 90, 76)


def test_an_unfolded_sum_takes_room_under_its_row():
    layout = lay_out(open={"row": 0, "height": 100})
    room = 500 - 50 - 70 - 100 - 8  # the lane is 70 high, for its names; its stick of 76 * 0.72 needs 68.72
    top = 50 + (room - 234) / 2
    assert layout["rowY"][0] == pytest.approx(top + 39)
    assert layout["openY"] == pytest.approx(top + 78)
    assert layout["rowY"][1] == pytest.approx(top + 78 + 100 + 39)


def test_of_many_rows_strong_ones_keep_their_height():
    shares = [0.5, 0.03, *[0.47 / 38] * 38]
    layout = lay_out(shares=shares, height=300)
    # head 50, lane 70 (0.16 * 300 + 14 is less), 8: 172 left; the strong row and that which asks are at most 28 high
    assert layout["rowHeight"][:2] == [28, 28]
    assert layout["rowHeight"][2:] == pytest.approx([(172 - 56) / 38] * 38)


def test_one_column_stands_behind_the_words():
    layout = lay_out()
    assert (layout["x"], layout["w"], layout["zoom"]) == ({"scores": 108}, {"scores": 148}, 1.75)  # 74 twice


def test_all_columns_of_scores_have_one_scale():
    columns = [SCORES | {"name": name, "column": place} for place, name in enumerate("abcd")]
    for width in (1200, 320):
        layout = lay_out(parts=columns, width=width)
        assert layout["bar"] == min(layout["w"].values()) / 2
    assert layout["folded"] == ["b", "c"]  # without ribbons, the columns in between are narrow


def test_a_column_is_as_wide_as_its_name():
    layout = lay_out(head_width=200)
    assert layout["x"]["scores"] == 108 + (200 - 148) / 2


def test_columns_stand_in_their_order_and_share_the_room():
    layout = lay_out(parts=(SCORES, KEYS))
    strip = 3 * (14 * 1.75 + 2) - 2  # cells of 14 and gaps of 2
    assert layout["w"] == {"k": strip, "scores": 148}
    assert layout["x"]["k"] == 108
    assert layout["x"]["scores"] == 108 + strip + 54 + 95 * 2  # the fan, and its part of what is left over


# ---- ribbons ---------------------------------------------------------------------------------------------------------
WIDE = {"width": 1216, "unit": 1.2, "compact": False}  # the picture on a page 1280 px wide, and on a phone
PHONE = {"width": 358, "unit": 0.62, "compact": True}
RIBBONS = """(cases) => cases.map(([parts, words, sizes, frame, current]) => {
  const numbers = Object.fromEntries(parts.map(({ name }, i) => [name, Array(sizes[i])]));
  const snapshot = { parts, numbers, shares: Array(words).fill(1 / words), asks: 0 };
  const shown = new Set(parts.map(({ name }) => name));
  const { x, w, parts: drawn } = layOut(snapshot, { ...frame, shown, current, headWidth: () => 50 });
  const mixer = drawn.find(({ mixes }) => mixes);
  const values = drawn.find(({ name }) => name === "v") ?? drawn.find(({ is_share }) => is_share);
  const signs = drawn.filter(({ role, is_share }) => role === "pair" && !is_share).map(({ sign }) => sign);
  const ribbon = x[mixer.name] - x[values.name] - w[values.name];
  return { ribbon, names: drawn.map(({ name }) => name), signs };
})"""


def describe_layout(trace, frame: dict, current=("output",), **changes) -> list:
    """What RIBBONS needs of a run."""
    parts = flow_parts(FlowGraph(trace))
    sizes = []
    for part in parts:
        step = trace.step(part.name)
        axes = dict(zip(step.dims, step.shape, strict=True))
        for dim in ("B", "H", "H_kv", *(["T"] if part.role != "row" else [])):
            axes.pop(dim, None)
        sizes.append(math.prod(axes.values()))
    described = [vars(part) | {"sign": part_sign(trace, part)} for part in parts]
    return [described, trace.sizes()["S"], sizes, FRAME | frame | changes, list(current)]


def lay_out_ribbons(*cases: list) -> list[dict]:
    """For each case the layout at the end of a run's picture: the width of the ribbons, and the parts drawn."""
    return call_in_node("flow/layout", RIBBONS, list(cases))


def test_ribbons_are_wide_in_every_mechanism():
    runs = [run for run in RUNS.values() if any(part.mixes for part in flow_parts(FlowGraph(run)))]
    assert len(runs) > 40
    wide = lay_out_ribbons(*[describe_layout(run, WIDE) for run in runs])
    assert min(layout["ribbon"] for layout in wide) >= 250
    narrow = lay_out_ribbons(*[describe_layout(run, PHONE, wordWidth=70, endWidth=32) for run in runs])
    assert min(layout["ribbon"] for layout in narrow) >= 120


def test_ribbons_are_wide_with_many_heads_and_wide_vectors():
    cases = []
    for heads, width in [(1, 16), (2, 512), (4, 16), (8, 64), (16, 16), (16, 512)]:
        weights = Weights(**dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), torch.eye(width)))
        trace = attend(torch.ones(7, width), weights=weights, config=AttentionConfig(heads=heads, masks=["causal"]))
        cases.append(describe_layout(trace, WIDE, wordWidth=180))
    assert min(layout["ribbon"] for layout in lay_out_ribbons(*cases)) >= 250


def test_columns_fold_in_their_order():
    trace = layer(masks=["causal"])
    drawn = lay_out_ribbons(*[describe_layout(trace, WIDE, wordWidth=words) for words in range(100, 600, 10)])
    gone = [["scores" not in each["names"], "concat" not in each["names"]] for each in drawn]
    assert gone == sorted(gone)
    assert gone[0] == [False, False] and gone[-1] == [True, True] and [True, False] in gone
    assert drawn[0]["signs"][:2] == ["q · k", "÷ √d"] and drawn[-1]["signs"][0].startswith("q · k ÷ √d")


def test_on_a_phone_the_present_stop_the_last_scores_and_the_sum_stand_beside_ribbons():
    trace, words = layer(), {"wordWidth": 70, "endWidth": 32}
    end, gather = lay_out_ribbons(
        describe_layout(trace, PHONE, **words), describe_layout(trace, PHONE, ("v", "head_outputs"), **words)
    )
    assert end["names"] == ["scaled_scores", "weights", "head_outputs", "output"]
    assert gather["names"] == ["v", "scaled_scores", "weights", "head_outputs"]


@pytest.mark.parametrize(
    ("role", "length", "strip"),
    [
        ("row", 4, {"cell": 14, "gap": 2, "each": 1, "count": 4}),
        ("lane", 4, {"cell": 17, "gap": 2, "each": 1, "count": 4}),
        ("row", 59, {"cell": 2, "gap": 0, "each": 1, "count": 59}),  # 118 pixels for all
        ("row", 236, {"cell": 1.5, "gap": 0, "each": 3, "count": 79}),  # a cell of three numbers each
    ],
)
def test_cells_of_a_vector(role, length, strip):
    rows = 1 if role == "lane" else 2
    snapshot = {"numbers": {"k": [0] * length * rows}, "shares": [0.5, 0.5]}
    assert (
        call_in_node(
            "flow/layout", "stripOf", snapshot, {"name": "k", "role": role}, {"unit": 1, "zoom": 1, "longest": 118}
        )
        == strip
    )


def test_between_two_layouts_places_are_between():
    blend = """(one, other, share) => {
      const { rowY, x, laneY } = blendLayouts(one, other, share);
      return [[...rowY], x, laneY];
    }"""
    one = {"x": {"k": 0}, "w": {"k": 1}, "rowY": [0, 10], "rowHeight": [1, 1], "laneY": 0}
    other = {"x": {"k": 8, "v": 4}, "w": {"k": 1, "v": 1}, "rowY": [4, 20], "rowHeight": [1, 1], "laneY": 40}
    assert call_in_node("flow/layout", blend, one, other, 0.25) == [[1, 12.5], {"k": 2, "v": 4}, 10]
    assert call_in_node("flow/layout", blend, one, other, 1) == [[4, 20], other["x"], 40]
