"""The parts of a run's picture: what stands where follows from axes, reads and cells; the expected is drawn by hand."""

import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.drawing.flow import FlowGraph, FlowPart, flow_parts, flow_stops, keep_way_to_output
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


def parts_of(trace: Trace) -> tuple[FlowPart, ...]:
    """The parts of a run's picture."""
    return flow_parts(FlowGraph(trace))


def drawn(trace: Trace) -> list[tuple[str, str, int]]:
    """Each part with its role and its column."""
    return [(part.name, part.role, part.column) for part in parts_of(trace)]


def stopped(trace: Trace) -> list[tuple[str, tuple[str, ...]]]:
    """Each stop with its parts."""
    return [(stop.motion, stop.parts) for stop in flow_stops(parts_of(trace))]


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
    parts = {part.name: part for part in parts_of(layer(score="additive"))}
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
    parts = {part.name: part for part in parts_of(trace)}
    assert "allowed" not in parts
    assert (parts["masked_scores"].reads, parts["masked_scores"].matrices) == (("scaled_scores",), ("allowed",))


def test_keys_of_other_words_stand_in_rows_of_their_own():
    weights = Weights(w_q=numbers(6, 2), w_k=numbers(4, 2), w_v=numbers(4, 2))
    trace = attend(numbers(3, 6), numbers(5, 4), weights=weights, config=AttentionConfig())
    roles = {part.name: part.role for part in parts_of(trace)}
    assert (roles["query"], roles["key"]) == ("lane", "row")


def test_a_run_from_q_k_and_v_begins_with_them():
    trace = attend_qkv(numbers(3, 2), numbers(4, 2), numbers(4, 2))
    assert drawn(trace)[:3] == [("q", "lane", 0), ("k", "row", 0), ("v", "row", 3)]


def test_a_given_bias_stands_where_a_computed_one_stands():
    """Behind the scaled scores, with which it shares a column, before the sum."""
    q, k = numbers(3, 2), numbers(4, 2)
    given = drawn(attend_qkv(q, k, k, bias=numbers(3, 4)))
    computed = drawn(attend_qkv(q, k, k, config=AttentionConfig(positions=["alibi"])))
    assert given == computed
    names = [name for name, *_ in given]
    assert names[names.index("scores") :][:4] == ["scores", "scaled_scores", "bias", "biased_scores"]
    beside = [
        name for name, *_ in drawn(attend_qkv(q, k, k, bias=numbers(3, 4), config=AttentionConfig(positions=["alibi"])))
    ]
    assert beside[beside.index("alibi_bias") :][:4] == ["alibi_bias", "bias_custom", "bias", "biased_scores"]


@pytest.mark.parametrize("name", RUNS)
def test_every_run_is_drawn_as_one_connected_picture(name):
    trace = RUNS[name]
    parts = parts_of(trace)
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


def test_every_mechanism_says_what_it_does():
    operations = [operation for score in SCORES.values() for operation in score.operations]
    faces = [each.faces for each in (*operations, *POSITIONS.values())]
    assert all(each.sign and each.motion != "change" for each in faces)


def test_where_no_vector_is_mixed_the_last_step_and_its_way_are_drawn():
    made = {"q": ("lane", ()), "k": ("row", ()), "v": ("row", ()), "scores": ("pair", ("q", "k"))}
    made |= {"weights": ("pair", ("scores",))}
    parts = [FlowPart(name, role, reads, (), "match") for name, (role, reads) in made.items()]
    assert [part.name for part in keep_way_to_output(parts)] == ["q", "k", "scores", "weights"]
