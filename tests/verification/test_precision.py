"""A run in another precision: each error is that of the same arithmetic by hand, and scaling first saves a score."""

import math

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, attend_qkv, explain, prove
from attention_core.comparison.differences import find_moves
from attention_core.comparison.rerun import rerun
from attention_core.verification.precision import (
    PRECISIONS,
    largest_finite_number,
    overflow_example,
    precision_errors,
    run_in_precision,
    with_queries_scaled_first,
)
from attention_core.verification.proof import find_overflow, measure_step_rounding
from tests.entries import learned_shapes
from tests.golden import loader

B, T, S, D, HEADS, KV_HEADS, D_K, A = 2, 3, 5, 7, 6, 2, 4, 11
LOW = [torch.float32, torch.bfloat16, torch.float16]


def numbers(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(**choices) -> Trace:
    config = AttentionConfig(**{"heads": HEADS, "kv_heads": KV_HEADS, "masks": ["causal"], **choices})
    shapes = {"w_q": (D, HEADS * D_K), "w_k": (D, KV_HEADS * D_K), "w_v": (D, KV_HEADS * 13), "b_o": (D,)}
    shapes |= {"w_o": (HEADS * 13, D)}
    shapes |= learned_shapes(config, D_K, D_K, own=A)
    weights = Weights(**{name: numbers(*shape, seed=n) for n, (name, shape) in enumerate(shapes.items(), start=7)})
    return attend(numbers(B, T, D, seed=1), numbers(B, S, D, seed=2), weights=weights, config=config)


# ---- the run ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", LOW, ids=str)
@pytest.mark.parametrize("positions", [[], ["rope", "alibi", "sinusoidal"]], ids=str)
def test_it_is_the_run_that_rounded_inputs_give(dtype, positions):
    trace = layer(positions=positions)
    rounded = run_in_precision(trace, dtype)
    given = {name: step.value.to(dtype) for name, step in trace.inputs().items()}
    weights = Weights(**{name: value for name, value in given.items() if name not in ("query", "key")})
    config = AttentionConfig(heads=HEADS, kv_heads=KV_HEADS, masks=["causal"], positions=positions)
    expected = attend(given["query"], given["key"], weights=weights, config=config)
    assert rounded.steps.keys() == expected.steps.keys()
    for name, step in expected.steps.items():
        assert torch.equal(rounded[name], step.value), name
        assert rounded[name].dtype == step.value.dtype
        assert rounded.step(name).dims == step.dims


def test_words_and_truth_values_stay():
    trace = layer().labelled(S=("a", "b", "c", "d", "e"))
    rounded = run_in_precision(trace, torch.float16)
    assert rounded.labels == trace.labels == precision_errors(trace, torch.float16).labels
    assert rounded["allowed"].dtype == torch.bool
    allowed = torch.tensor([[True, False, True, True, False]]).expand(T, S)
    own = run_in_precision(attend_qkv(*[numbers(n, 5, seed=n) for n in (T, S, S)], allowed=allowed), torch.bfloat16)
    assert torch.equal(own["allowed"][0, 0], allowed)


def test_float64_of_a_float64_run_changes_nothing():
    assert find_moves(run_in_precision(layer(), torch.float64), layer()) == {}


# ---- the errors ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", LOW, ids=str)
def test_every_cell_of_the_errors(dtype):
    """Of width 1, so that a score is one product and there is one right way to round it."""
    q, k, v = numbers(T, 1, seed=1), numbers(S, 1, seed=2), numbers(S, 7, seed=3)
    found = precision_errors(attend_qkv(q, k, v), dtype)
    assert found.difference
    for t in range(T):
        assert found["q"][0, 0, t, 0] == q[t, 0].to(dtype).double() - q[t, 0]
        for s in range(S):
            product = (q[t, 0].to(dtype).double() * k[s, 0].to(dtype).double()).to(dtype)  # rounded three times
            assert found["scores"][0, 0, t, s] == product.double() - q[t, 0] * k[s, 0]
    assert 0 < found["output"].abs().max() < 16 * torch.finfo(dtype).eps


def test_precisions_are_named_as_torch_names_them():
    assert all(str(dtype) == f"torch.{name}" for name, dtype in PRECISIONS.items())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_a_run_of_any_precision_is_measured_against_its_own_inputs(dtype):
    trace = layer()
    low = run_in_precision(trace, dtype)
    found, exact = precision_errors(low, dtype), rerun(low)
    assert all((found[name] == 0).all() for name in low.inputs())
    assert torch.equal(found["weights"], low["weights"].double() - exact["weights"])
    worst = found["weights"].abs().max().item() / exact["weights"].max().item()
    assert worst == measure_step_rounding(low, exact)["weights"]


def test_golden_bands():
    file = loader.read(loader.FOLDER / "s35_float16_vs_float32_error.json")
    trace = loader.load(file).run()
    bounds = file["test_bounds"]
    low, high = bounds["float16_output_between"]
    float32, bfloat16, float16 = (precision_errors(trace, dtype) for dtype in LOW)
    assert 0 < float32["output"].abs().max() <= bounds["float32_output"]
    assert low <= float16["output"].abs().max() <= high
    assert (float16["q"] == 0).all()  # the file's inputs are numbers of float16, so all error is the arithmetic's
    assert (bfloat16["q"] != 0).any()
    assert bfloat16["output"].abs().max() > 2 * float16["output"].abs().max()  # 8 bits of digits, and 11


def test_an_input_that_a_precision_cannot_hold_is_refused():
    trace = attend_qkv(torch.full((1, 1), 1e6), torch.ones(1, 1), torch.ones(1, 1))
    with pytest.raises(AttentionError) as caught:
        run_in_precision(trace, torch.float16)
    assert caught.value.code == "not_finite"
    assert run_in_precision(trace, torch.bfloat16)["q"].isfinite().all()


# ---- the overflow ----------------------------------------------------------------------------------------------------
def test_one_score_overflows_in_float16_and_nowhere_else():
    trace = overflow_example()
    expected = [[256, 255, 3], [65_536, 65_280, 0], [0, 2, -1]]
    assert trace["scores"][0, 0].tolist() == expected
    low = run_in_precision(trace, torch.float16)
    assert all(torch.equal(low[name].double(), trace[name]) for name in "qkv")  # float16 holds the inputs exactly
    assert low["scores"].isinf().nonzero().tolist() == [[0, 0, 1, 0]]
    assert find_overflow(low) == ("scores", (0, 0, 1, 0))
    assert low["weights"].isnan().any(-1)[0, 0].tolist() == [False, True, False]
    found = precision_errors(trace, torch.float16)
    assert found["scores"][0, 0, 1, 0] == math.inf
    assert found["scores"][0, 0].isfinite().sum() == 8
    for dtype in (torch.float32, torch.bfloat16):
        assert find_overflow(run_in_precision(trace, dtype)) is None


def test_scaling_first_saves_it():
    trace = with_queries_scaled_first(overflow_example())
    assert trace["q_scaled"][0, 0, 1].tolist() == [128, 0, 0, 0]
    assert trace["scores"][0, 0, 1].tolist() == [32_768, 32_640, 0]
    low = run_in_precision(trace, torch.float16)
    assert find_overflow(low) is None
    assert low["weights"][0, 0, 1].tolist() == [1, 0, 0]
    assert precision_errors(trace, torch.float16)["output"].abs().max() < 1e-3


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "general"])
@pytest.mark.parametrize(
    "choices", [{}, {"temperature": 0.3}, {"scale": -2.0}, {"positions": ["rope", "alibi"]}], ids=str
)
def test_scaling_first_is_the_same_number(score, choices):
    trace = layer(score=score, **choices)
    first = with_queries_scaled_first(trace)
    for name in ("masked_scores", "weights", "output"):
        np.testing.assert_allclose(first[name].numpy(), trace[name].numpy(), rtol=1e-12, atol=1e-12)
    proof = prove(first)
    assert proof.passed, proof.failed
    assert {check.witness for check in proof.checks if check.step == "head_outputs"} >= {"numpy", "sdpa"}
    before = [name for name in trace.steps if name not in ("scores", "scaled_scores")]
    assert [name for name in first.steps if name not in ("scores", "scaled_scores", "q_scaled")] == before


def test_a_scaled_query_has_its_arithmetic():
    trace = with_queries_scaled_first(overflow_example())
    assert explain(trace, "q_scaled", (0, 0, 1, 0)).text == "256.00 × 1/√4 = 128.00"
    assert trace.step("q_scaled").dims == trace.step("q").dims
    assert trace.step("scores").operation.reads == ("q_scaled", "k")
    assert explain(trace, "scaled_scores", (0, 0, 1, 0)).text == "32768.00 = 32768.00"


@pytest.mark.parametrize("score", ["cosine", "additive"])
def test_a_score_that_is_no_product_with_q_is_refused(score):
    with pytest.raises(AttentionError) as caught:
        with_queries_scaled_first(layer(score=score))
    assert caught.value.code == "scale_stays"


def test_the_largest_numbers():
    assert largest_finite_number("float16") == 65_504
    assert largest_finite_number("float64") == torch.finfo(torch.float64).max
