"""The graph of a run: what stands where follows from axes, reads and cells; what is expected was drawn by hand."""

import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.drawing.flow import flow_parts, flow_stops, largest_numbers, part_family, part_sign, twin_steps
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from tests.formulas import RUNS


def numbers(*shape: int) -> torch.Tensor:
    """Small numbers, no two alike."""
    count = torch.tensor(shape).prod()
    return torch.arange(1, count + 1, dtype=torch.float64).reshape(shape) / 100


def layer(heads: int = 2, **config) -> Trace:
    """Five words of width 6; heads of width 2."""
    weights = {name: numbers(6, heads * 2) for name in ("w_q", "w_k", "w_v")} | {"w_o": numbers(heads * 2, 6)}
    if config.get("score") == "additive":
        weights |= {"w_aq": numbers(2, 3), "w_ak": numbers(2, 3), "v_a": numbers(3)}
    return attend(numbers(5, 6), weights=Weights(**weights), config=AttentionConfig(heads=heads, **config))


def drawn(trace: Trace) -> list[tuple[str, str, int]]:
    """Each part with its role and its column."""
    return [(part.name, part.role, part.column) for part in flow_parts(trace)]


def stopped(trace: Trace) -> list[tuple[str, tuple[str, ...]]]:
    """Each stop with its parts."""
    return [(stop.motion, stop.parts) for stop in flow_stops(flow_parts(trace))]


def test_a_layer_of_two_heads():
    """The cuts into heads stand for the projections, v stands beside the shares, and no mask is drawn."""
    assert drawn(layer()) == [
        ("x", "row", 0),
        ("q", "lane", 1),
        ("k", "row", 1),
        ("v", "row", 4),
        ("scores", "pair", 2),
        ("scaled_scores", "pair", 3),
        ("weights", "pair", 4),
        ("head_outputs", "lane", 5),
        ("concat", "lane", 6),
        ("output", "lane", 7),
    ]
    assert stopped(layer()) == [
        ("ask", ("q", "k")),
        ("match", ("scores",)),
        ("scale", ("scaled_scores",)),
        ("power", ("weights",)),
        ("share", ("weights",)),
        ("gather", ("v", "head_outputs")),
        ("merge", ("concat",)),
        ("output", ("output",)),
    ]


def test_one_head_has_no_merge():
    assert "concat" not in [name for name, *_ in drawn(layer(heads=1))]


def test_an_additive_score_has_a_strip_for_each_pair():
    parts = {part.name: part for part in flow_parts(layer(score="additive"))}
    assert parts["hidden"].role == "pairs"
    assert (parts["hidden"].reads, parts["hidden"].matrices) == (("q", "k"), ("w_aq", "w_ak"))
    assert [motion for motion, _ in stopped(layer(score="additive"))][:3] == ["ask", "meet", "match"]


def test_positions_come_where_they_act():
    stops = stopped(layer(positions=["sinusoidal", "rope", "alibi"]))
    assert stops[:3] == [
        ("add", ("sinusoidal_x", "positioned_x")),
        ("ask", ("q_heads", "k_heads")),
        ("turn", ("q", "k")),
    ]
    assert ("add", ("bias", "biased_scores")) in stops


def test_a_mask_is_a_mark_and_no_column():
    trace = layer(masks=["causal"])
    parts = {part.name: part for part in flow_parts(trace)}
    assert "allowed" not in parts
    assert (parts["masked_scores"].reads, parts["masked_scores"].matrices) == (("scaled_scores",), ("allowed",))


def test_keys_of_other_words_stand_in_rows_of_their_own():
    weights = Weights(w_q=numbers(6, 2), w_k=numbers(4, 2), w_v=numbers(4, 2))
    trace = attend(numbers(3, 6), numbers(5, 4), weights=weights, config=AttentionConfig())
    roles = {part.name: part.role for part in flow_parts(trace)}
    assert (roles["query"], roles["key"]) == ("lane", "row")


def test_a_run_from_q_k_and_v_begins_with_them():
    trace = attend_qkv(numbers(3, 2), numbers(4, 2), numbers(4, 2))
    assert drawn(trace)[:3] == [("q", "lane", 0), ("k", "row", 0), ("v", "row", 3)]


@pytest.mark.parametrize("name", RUNS)
def test_every_run_is_drawn_as_one_connected_picture(name):
    trace = RUNS[name]
    parts = flow_parts(trace)
    columns = {part.name: part.column for part in parts}
    for part in parts:
        assert all(columns[read] < part.column for read in part.reads), part.name
    last = parts[-1]
    assert last.after and last.role == "lane"
    assert sum(part.is_share for part in parts) == sum(part.mixes for part in parts) == 1
    reached, ahead = set(), [last.name]
    while ahead:
        reached.add(found := ahead.pop())
        ahead += next(part.reads for part in parts if part.name == found)
    assert reached == columns.keys()


@pytest.mark.parametrize("name", RUNS)
def test_every_part_that_is_computed_comes_in_one_stop(name):
    parts = flow_parts(RUNS[name])
    coming = [part for stop in flow_stops(parts) if stop.motion != "power" for part in stop.parts]
    assert sorted(coming) == sorted(part.name for part in parts if part.motion != "given")


def test_colours_and_signs():
    trace = layer(masks=["causal"])
    looks = {part.name: (part_family(part), part_sign(trace, part)) for part in flow_parts(trace)}
    assert looks["x"] == ("x", "x")
    assert looks["k"] == ("k", "k")
    assert looks["scores"] == ("x", "q · k")
    assert looks["scaled_scores"] == ("x", "÷ √d")
    assert looks["weights"] == ("share", "%")
    assert looks["head_outputs"] == ("v", "Σ")


def test_scores_share_one_scale_so_that_a_division_is_seen():
    trace = layer(masks=["causal"])
    largest = largest_numbers(trace, flow_parts(trace))
    top = float(trace["scores"].abs().max())
    assert largest["scores"] == largest["scaled_scores"] == largest["masked_scores"] == top
    assert largest["weights"] == 1.0  # the first word sees itself alone


def test_the_twin_hears_how_each_step_is_made():
    steps = twin_steps(layer(masks=["causal"], positions=["alibi"]))
    assert steps["x"]["operation"] is steps["bias"]["operation"] is None
    mask = {"name": "causal_mask", "reads": (), "params": {"query_offset": 0}}  # made of no number, but of a window
    assert steps["allowed"]["operation"] == mask
    assert steps["scaled_scores"]["operation"]["name"] == "scale"
    assert steps["scaled_scores"]["operation"]["params"] == {"factor": pytest.approx(2**-0.5), "temperature": 1.0}
    assert not steps["x"]["perQuery"] and not steps["k"]["perQuery"]
    assert steps["q"]["perQuery"] and steps["weights"]["perQuery"] and steps["output"]["perQuery"]


def test_every_mechanism_says_what_it_does():
    operations = [operation for score in SCORES.values() for operation in score.operations]
    faces = [each.faces for each in (*operations, *POSITIONS.values())]
    assert all(each.sign and each.motion != "change" for each in faces)
