"""Heads as a sum: each head's part by loops, the output without a head by a layer without it, likeness by hand."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, attend_qkv
from attention_core.analysis.head_contributions import find_carried, with_contributions, with_likeness, without_head
from attention_core.examples.examples import EXAMPLES
from pages.runs.cache import trace_for
from pages.setup.setup import make_setup
from tests.faces import assert_five_faces

B, H, KV, T, S, D_K, D_V, D_OUT = 2, 6, 3, 5, 7, 11, 13, 17


def numbers(generator, *shape):
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def layer(generator, w_o: bool = True, **given) -> Trace:
    """Six query heads that share three key/value heads."""
    q, k, v = (numbers(generator, *shape) for shape in ((B, H, T, D_K), (B, KV, S, D_K), (B, KV, S, D_V)))
    weights = Weights(w_o=numbers(generator, H * D_V, D_OUT), b_o=numbers(generator, D_OUT)) if w_o else Weights()
    return attend_qkv(q, k, v, weights=weights, **given)


def assert_near(value, expected):
    torch.testing.assert_close(value, expected, rtol=0, atol=1e-10)


# ---- each head's part ------------------------------------------------------------------------------------------------
def test_every_part_by_loops(generator):
    trace = with_contributions(layer(generator))
    assert trace.step("contributions").dims == ("B", "H", "T", "D_out")
    assert trace["contributions"].shape == (B, H, T, D_OUT)
    for b, h, t, n in torch.cartesian_prod(*map(torch.arange, (B, H, T, D_OUT))).tolist()[::7]:
        rows = range(h * D_V, (h + 1) * D_V)  # of W_o, that head's own
        wanted = sum(
            trace["head_outputs"][b, h, t, m].item() * trace["w_o"][row, n].item() for m, row in enumerate(rows)
        )
        assert trace["contributions"][b, h, t, n].item() == pytest.approx(wanted, abs=1e-10)


def test_the_parts_and_the_bias_are_the_output(generator):
    trace = with_contributions(layer(generator))
    assert_near(trace["contributions"].sum(1) + trace["b_o"], trace["output"])


def test_without_w_o_a_head_fills_its_own_columns(generator):
    trace = with_contributions(layer(generator, w_o=False))
    assert trace.step("contributions").dims == ("B", "H", "T", "H·d_v")
    assert torch.equal(trace["contributions"].sum(1), trace["output"])
    blocks = trace["contributions"].unflatten(-1, (H, D_V))  # (B, H, T, H, d_v)
    for h in range(H):
        assert torch.equal(blocks[:, h, :, h], trace["head_outputs"][:, h])
        assert (blocks[:, h, :, [g for g in range(H) if g != h]] == 0).all()


@pytest.mark.parametrize("w_o", [True, False])
def test_five_faces(generator, w_o):
    trace = without_head(layer(generator, w_o=w_o), head=4)
    assert_five_faces(trace, "contributions", "without_head")


# ---- without one head ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("head", range(H))
def test_without_a_head_is_the_layer_whose_rows_of_w_o_are_zero_there(generator, head):
    trace = layer(generator)
    w_o = trace["w_o"].clone()
    w_o[head * D_V : (head + 1) * D_V] = 0.0
    weights = Weights(w_o=w_o, b_o=trace["b_o"])
    other = attend_qkv(trace["q"], trace["k"], trace["v"], weights=weights)
    left = without_head(trace, head)
    assert_near(left["without_head"], other["output"])
    assert left["without_head"].shape == trace["output"].shape
    assert (left["without_head"] - left["output"]).abs().max() > 0.1


def test_the_bias_stays():
    """One head of width 1: without it the bias alone is left."""
    one = torch.ones(1, 1, dtype=torch.float64)
    trace = attend_qkv(one, one, one, weights=Weights(w_o=5 * one, b_o=torch.tensor([3.0]).double()))
    assert trace["output"].item() == 8
    assert without_head(trace, 0)["without_head"].item() == 3


@pytest.mark.parametrize("head", [-1, H, "0"])
def test_a_head_that_there_is_not(generator, head):
    with pytest.raises(AttentionError, match=r"head must be one of 0, 1, 2, 3, 4, 5: got"):
        without_head(layer(generator), head)


def test_a_residual_is_no_heads_part(generator):
    x = numbers(generator, T, 4)
    trace = attend(x, config=AttentionConfig(heads=2, residual=True))
    assert_near(with_contributions(trace)["contributions"].sum(1), trace["output"])


# ---- how alike heads are ---------------------------------------------------------------------------------------------
def test_likeness_by_loops(generator):
    trace = with_likeness(layer(generator, config=AttentionConfig(masks=["causal"])))
    assert trace["likeness"].shape == (B, H, H)
    weights = trace["weights"]
    for b, h, g in torch.cartesian_prod(*map(torch.arange, (B, H, H))).tolist():
        rows = [sum(min(weights[b, h, t, s], weights[b, g, t, s]) for s in range(S)) for t in range(T)]
        assert trace["likeness"][b, h, g].item() == pytest.approx(sum(rows).item() / T, abs=1e-10)
        assert trace["row_likeness"][b, 3, h, g].item() == pytest.approx(rows[3].item(), abs=1e-10)


def test_likeness_of_the_two_heads_of_en_it():
    """Four rows are even in both heads: 1 each. In the other three one head gives .9328 to one word, .0134 to five and
    .0002 to one, the other head 1/7 to each: in common 1/7 + 5 x .0134 + .0002 = .2101."""
    trace = with_likeness(EXAMPLES["en_it"].run())
    assert trace["likeness"][0, 0, 1].item() == pytest.approx((4 + 3 * 0.2101) / 7, abs=1e-4)
    it = trace.labels["T"].index("it")
    assert trace["row_likeness"][0, it, 0, 1].item() == pytest.approx(0.210, abs=0.001)


def given(*rows):
    """Weights of one row a head, S keys."""
    weights = torch.tensor(rows, dtype=torch.float64)[None, :, None]  # (H, S) -> (1, H, 1, S)
    heads, keys = weights.shape[1], weights.shape[3]
    q, k = torch.zeros(1, heads, 1, 1).double(), torch.zeros(1, heads, keys, 1).double()
    return with_likeness(attend_qkv(q, k, k, replacement=weights))["likeness"][0]


def test_the_ends_of_the_scale():
    found = given([1.0, 0, 0], [0, 0.5, 0.5], [1.0, 0, 0], [0.5, 0.5, 0])
    assert found.tolist() == [[1, 0, 1, 0.5], [0, 1, 0, 0.5], [1, 0, 1, 0.5], [0.5, 0.5, 0.5, 1]]


def test_rows_without_a_key_do_the_same():
    assert given([0.0, 0.0], [0.0, 0.0], [0.25, 0.75]).tolist() == [[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]]


def test_five_faces_of_likeness(generator):
    assert_five_faces(with_likeness(layer(generator)), "row_likeness", "likeness")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_every_precision(generator, dtype):
    exact = layer(generator)
    q, k, v, w_o = (exact[name].to(dtype) for name in ("q", "k", "v", "w_o"))
    trace = with_likeness(without_head(attend_qkv(q, k, v, weights=Weights(w_o=w_o)), 1))
    assert {trace[name].dtype for name in ("contributions", "without_head", "likeness")} == {dtype}
    apart = (trace["likeness"].double() - with_likeness(exact)["likeness"]).abs().max()
    assert apart < 20 * torch.finfo(dtype).eps


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("example", ["en_colour", "zh_colour", "en_it"])
def test_times_the_weights_and_added_up_it_is_the_column_of_the_output(example, heads):
    trace = trace_for(make_setup(example=example, heads=heads))
    for column in range(trace.sizes()["D_out"]):
        carried = find_carried(trace, column)  # (B, H, S)
        summed = torch.einsum("bhts,bhs->bt", trace["weights"], carried)
        assert torch.allclose(summed, trace["output"][..., column], atol=1e-12)
