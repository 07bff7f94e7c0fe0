"""Steps laid out as the matrix products that they are. No two sizes are equal, so no axis passes for another.

B 2, H 6 on H_kv 3, T 5, S 7, D 11, D_key 13, D_value 17, d_k 4, d_v 9, A 23, D_out 29.
"""

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.explanation.layout import MAX_PANEL_SIDE, Panel, Product, is_broadcast_axis, panel, product
from tests.entries import score_shapes

SHAPES = {
    "w_q": (11, 24),
    "w_k": (13, 12),
    "w_v": (17, 27),
    "w_o": (54, 29),
    "b_q": (24,),
    "b_k": (12,),
    "b_v": (27,),
    "b_o": (29,),
}
PLACES = [(0, 0), (1, 5), (1, 2), (0, 3)]  # sequence and head; head h reads key/value head h // 2


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(shape[0]), dtype=torch.float64)


def layer(score: str = "scaled_dot", biases: bool = True, **config) -> Trace:
    shapes = {name: shape for name, shape in SHAPES.items() if biases or name.startswith("w")}
    weights = {name: random(*shape) for name, shape in (shapes | score_shapes(score, 4, 4, own=23)).items()}
    config = AttentionConfig(score, heads=6, kv_heads=3, **config)
    return attend(random(2, 5, 11), random(2, 7, 13), random(2, 7, 17), weights=Weights(**weights), config=config)


EVERYTHING = layer(
    masks=["causal", ("padding", {"lengths": (7, 3)})], positions=["sinusoidal", "rope", "alibi"], dropout=0.5
)


def at(b: int, h: int) -> dict[str, int]:
    """As a page picks: the key/value head goes with the head."""
    return {"B": b, "H": h, "H_kv": h // 2}


def assert_points_at_its_values(drawn: Panel, trace: Trace) -> None:
    assert drawn.values.dtype == np.float64
    assert drawn.values.shape == (len(drawn.refs), len(drawn.refs[0]))
    for refs, values in zip(drawn.refs, drawn.values, strict=True):
        assert [float(trace[ref.step][ref.index]) for ref in refs] == list(values)


def parts(drawn: Product) -> tuple[Panel, Panel, Panel]:
    return drawn.left, drawn.above, drawn.result


# ---- products --------------------------------------------------------------------------------------------------------
def close(left: np.ndarray, right: torch.Tensor) -> bool:
    return left.shape == tuple(right.shape) and np.allclose(left, right.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("place", PLACES)
def test_scores_are_queries_times_keys(place):
    trace, (b, h) = layer(), place
    drawn = product(trace, "scores", at(b, h))
    assert (drawn.left.step, drawn.left.rows, drawn.left.columns) == ("q", "T", "d_k")
    assert (drawn.above.step, drawn.above.rows, drawn.above.columns) == ("k", "d_k", "S")
    assert (drawn.result.step, drawn.result.rows, drawn.result.columns) == ("scores", "T", "S")
    assert close(drawn.left.values, trace["q"][b, h])
    assert close(drawn.above.values, trace["k"][b, h // 2].T)
    assert close(drawn.left.values @ drawn.above.values, trace["scores"][b, h])
    assert close(drawn.result.values, trace["scores"][b, h])


@pytest.mark.parametrize("place", PLACES)
def test_head_outputs_are_weights_times_values(place):
    trace, (b, h) = layer(masks=["causal"]), place
    drawn = product(trace, "head_outputs", at(b, h))
    assert [(each.step, each.rows, each.columns) for each in parts(drawn)] == [
        ("weights", "T", "S"),
        ("v", "S", "d_v"),
        ("head_outputs", "T", "d_v"),
    ]
    assert close(drawn.left.values, trace["weights"][b, h])
    assert close(drawn.above.values, trace["v"][b, h // 2])
    assert close(drawn.left.values @ drawn.above.values, trace["head_outputs"][b, h])


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize(
    ("step", "left", "role", "rows"),
    [
        ("q_projected", "query", "q", "T"),
        ("k_projected", "key", "k", "S"),
        ("v_projected", "value", "v", "S"),
        ("output", "concat", "o", "T"),
    ],
)
def test_projections_are_inputs_times_weights(step, left, role, rows, b, biases):
    """The bias, where there is one, is what the result has more than the product."""
    trace = layer(biases=biases)
    drawn = product(trace, step, at(b, 0))
    assert [each.step for each in parts(drawn)] == [left, f"w_{role}", step]
    assert [each.rows for each in parts(drawn)] == [rows, trace.step(left).dims[-1], rows]
    assert drawn.left.columns == drawn.above.rows
    assert drawn.above.columns == drawn.result.columns == trace.step(step).dims[-1]
    assert close(drawn.left.values, trace[left][b])
    assert close(drawn.above.values, trace[f"w_{role}"])
    bias = trace[f"b_{role}"] if biases else torch.zeros(SHAPES[f"w_{role}"][1])
    assert close(drawn.left.values @ drawn.above.values, trace[step][b] - bias)


def test_a_cosine_is_drawn_as_the_product_that_is_divided_by_two_lengths():
    trace = layer("cosine")
    drawn = product(trace, "scores", at(1, 4))
    lengths = [np.linalg.norm(drawn.left.values, axis=1), np.linalg.norm(drawn.above.values, axis=0)]
    assert close(drawn.left.values @ drawn.above.values / np.outer(*lengths), trace["scores"][1, 4])


def test_a_row_times_a_matrix_times_a_column_is_not_drawn_without_its_matrix():
    assert product(layer("general"), "scores", at(1, 4)) is None


def test_other_axes_may_be_cut_sooner_than_tokens():
    drawn = product(layer(), "q_projected", at(1, 4), widest=3)
    assert [each.values.shape for each in parts(drawn)] == [(5, 3), (3, 3), (5, 3)]
    assert (drawn.left.hidden, drawn.above.hidden, drawn.result.hidden) == ((0, 8), (8, 21), (0, 21))


NO_PRODUCT = [name for name in EVERYTHING.computed() if name not in ("scores", "head_outputs", "output")]


@pytest.mark.parametrize("step", [name for name in NO_PRODUCT if not name.endswith("_projected")])
def test_no_product(step):
    assert product(EVERYTHING, step, at(1, 3)) is None


def test_these_are_no_products():
    """Among others, in the run above."""
    named = {"sinusoidal_query", "positioned_key", "q", "k", "v", "q_heads", "scaled_scores", "bias", "biased_scores"}
    named |= {"allowed_causal", "allowed", "masked_scores", "weights", "dropped_weights", "concat"}
    assert named <= set(NO_PRODUCT)


@pytest.mark.parametrize("step", ["hidden", "scores"])
def test_the_additive_score_is_no_product(step):
    """Every pair of tokens has a vector of its own."""
    assert product(layer("additive"), step, at(1, 3)) is None


@pytest.mark.parametrize("name", ["query", "w_q", "b_q"])
def test_an_input_is_no_product(name):
    assert product(layer(), name) is None


def test_one_token():
    """A product of one cell is still one; a weight that is kept or dropped is none."""
    trace = attend_qkv(random(1, 3), random(1, 3), random(1, 2), config=AttentionConfig(dropout=0.5))
    drawn = product(trace, "scores")
    assert [each.values.shape for each in parts(drawn)] == [(1, 3), (3, 1), (1, 1)]
    assert close(drawn.left.values @ drawn.above.values, trace["scores"][0, 0])
    assert product(trace, "dropped_weights") is None


@pytest.mark.parametrize("trace", [layer(), layer("cosine"), EVERYTHING])
def test_cells_of_a_product_point_at_their_values(trace):
    for step in ("q_projected", "k_projected", "v_projected", "scores", "head_outputs", "output"):
        for place in PLACES:
            for part in parts(product(trace, step, at(*place))):
                assert_points_at_its_values(part, trace)


# ---- panels ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", EVERYTHING.steps)
@pytest.mark.parametrize("place", [{}, at(1, 5)])
def test_a_panel_is_the_last_two_axes(step, place):
    value, drawn = EVERYTHING[step], panel(EVERYTHING, step, place)
    leading = [min(place.get(dim, 0), value.shape[i] - 1) for i, dim in enumerate(EVERYTHING.step(step).dims[:-2])]
    matrix = value[tuple(leading)].reshape(-1, value.shape[-1])
    assert torch.equal(torch.from_numpy(drawn.values), matrix.double())
    assert (drawn.step, drawn.columns) == (step, EVERYTHING.step(step).dims[-1])
    assert drawn.hidden == (0, 0)
    assert_points_at_its_values(drawn, EVERYTHING)


def test_a_panel_of_a_tanh_layer_is_that_of_one_query():
    trace = layer("additive")
    drawn = panel(trace, "hidden", {"B": 1, "H": 2, "T": 4})
    assert (drawn.rows, drawn.columns) == ("S", "A")
    assert close(drawn.values, trace["hidden"][1, 2, 4])


def test_a_bias_is_one_row():
    drawn = panel(layer(), "b_k")
    assert (drawn.rows, drawn.columns, drawn.values.shape) == ("", "H_kv·d_k", (1, 12))
    assert drawn.refs[0][11].index == (11,)


def test_what_is_too_large_is_cut_and_counted():
    """70 queries, 67 keys, width 66: 64 of each are drawn."""
    x, keys = random(70, 66), random(67, 66)
    trace = attend_qkv(x, keys, random(67, 65))
    assert MAX_PANEL_SIDE == 64
    drawn = panel(trace, "weights")
    assert drawn.values.shape == (64, 64)
    assert drawn.hidden == (6, 3)
    assert close(drawn.values, trace["weights"][0, 0, :64, :64])
    drawn = product(trace, "scores")
    assert [each.values.shape for each in parts(drawn)] == [(64, 64)] * 3
    assert [each.hidden for each in parts(drawn)] == [(6, 2), (2, 3), (6, 3)]
    drawn = product(trace, "head_outputs")
    assert [each.hidden for each in parts(drawn)] == [(6, 3), (3, 1), (6, 1)]
    for part in parts(drawn):
        assert_points_at_its_values(part, trace)


def test_a_smaller_limit():
    trace = layer()
    drawn = product(trace, "scores", at(1, 5), largest=3)
    assert [each.values.shape for each in parts(drawn)] == [(3, 3)] * 3
    assert [each.hidden for each in parts(drawn)] == [(2, 1), (1, 4), (2, 4)]
    assert close(drawn.result.values, trace["scores"][1, 5, :3, :3])
    assert close(drawn.above.values, trace["k"][1, 2, :3, :3].T)


def test_whatever_axis_there_is_not_starts_at_its_first_position():
    """A mask that all heads share has one; so has a step without heads."""
    assert panel(EVERYTHING, "allowed_causal", at(1, 5)).refs[0][0].index == (0, 0, 0, 0)
    assert panel(EVERYTHING, "q_projected", at(1, 5)).refs[0][0].index == (1, 0, 0)


def test_a_mask_that_is_the_same_for_all_heads_and_sentences_spans_them():
    q, k = torch.zeros(2, 3, 5, 1), torch.zeros(2, 3, 7, 1)
    masks = ["causal", ("padding", {"lengths": (7, 4)})]
    trace = attend_qkv(q, k, k, config=AttentionConfig(masks=masks))
    assert [is_broadcast_axis(trace, "allowed_causal", axis) for axis in range(4)] == [True, True, False, False]
    assert [is_broadcast_axis(trace, "allowed_padding", axis) for axis in range(4)] == [False, True, True, False]
    assert not any(is_broadcast_axis(trace, "weights", axis) for axis in range(4))
