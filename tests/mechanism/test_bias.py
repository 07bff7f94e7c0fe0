"""A given bias: the numbers are torch's with a float attn_mask, and every face of the run has them."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, Weights, attend, attend_qkv, diagnose, explain, prove
from attention_core.verification.wiring import expected_reads

B, H, T, S, D_K, D_V = 2, 3, 5, 7, 11, 13  # every axis another prime
SHAPES = [(T, S), (1, S), (T, 1), (B, H, T, S), (1, H, T, S), (B, 1, T, S), (B, 1, 1, S), (1, 1, 1, 1)]


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def qkv() -> tuple[torch.Tensor, ...]:
    return drawn(B, H, T, D_K, seed=1), drawn(B, H, S, D_K, seed=2), drawn(B, H, S, D_V, seed=3)


def near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and (one - other).abs().max().item() <= 1e-10


# ---- the numbers -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("is_masked", [False, True], ids=["", "masked"])
def test_the_numbers_are_torchs_with_a_float_mask(shape, is_masked):
    q, k, v = qkv()
    bias = drawn(*shape)
    allowed = torch.ones(T, S, dtype=torch.bool).tril(1) if is_masked else torch.ones(T, S, dtype=torch.bool)
    trace = attend_qkv(q, k, v, bias=bias, allowed=allowed if is_masked else None)
    added = bias.expand(B, H, T, S).masked_fill(~allowed, -math.inf)
    assert near(trace["head_outputs"], F.scaled_dot_product_attention(q, k, v, attn_mask=added))
    assert trace.step("bias").operation is None and torch.equal(trace["bias"], bias.view(trace["bias"].shape))
    assert prove(trace).passed


def test_from_words_on_the_numbers_are_those_of_torchs_layer():
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(6, 3, batch_first=True, dtype=torch.float64)
    x, bias = drawn(B, T, 6), drawn(B, 3, T, T, seed=4)
    w_q, w_k, w_v = layer.in_proj_weight.detach().chunk(3)
    weights = Weights(w_q=w_q.T, w_k=w_k.T, w_v=w_v.T, w_o=layer.out_proj.weight.detach().T)
    trace = attend(x, weights=weights, config=AttentionConfig(heads=3), bias=bias)
    output, shares = layer(x, x, x, attn_mask=bias.flatten(0, 1), average_attn_weights=False)
    assert near(trace["output"], output.detach()) and near(trace["weights"], shares.detach())


def test_a_bias_is_added_behind_the_scale_the_temperature_and_the_cap():
    """By a loop over pairs, as tanh and Python's own exp have them."""
    q, k, v = qkv()
    bias = drawn(B, 1, T, S)
    config = AttentionConfig(temperature=1.7, modifiers=[("softcap", {"cap": 0.9})])
    found = attend_qkv(q, k, v, config=config, bias=bias)["weights"]
    for b, h, t in np.ndindex(B, H, T):
        powers = []
        for s in range(S):
            score = float(q[b, h, t] @ k[b, h, s]) / math.sqrt(D_K) / 1.7
            powers.append(math.exp(0.9 * math.tanh(score / 0.9) + float(bias[b, 0, t, s])))
        expected = torch.tensor([power / sum(powers) for power in powers], dtype=torch.float64)
        assert near(found[b, h, t], expected)


def test_beside_positions_all_biases_are_summed():
    q, k, v = qkv()
    weights = Weights(w_buckets=drawn(8, H), w_clipped=drawn(3, H))
    positions = ["alibi", "t5", "clipped"]
    given = drawn(B, 1, 1, S)
    alone = attend_qkv(q, k, v, weights=weights, config=AttentionConfig(positions=positions))
    both = attend_qkv(q, k, v, weights=weights, config=AttentionConfig(positions=positions), bias=given)
    assert near(both["bias"], alone["bias"] + given)
    assert near(both["biased_scores"], alone["biased_scores"] + given)
    assert both.step("bias_custom").operation is None and near(both["bias_custom"], given)
    tables = ("alibi_bias", "t5_bias", "clipped_bias")
    assert expected_reads(both)["bias_3"] == ("bias_2", tables[2])
    assert both.step("bias").operation.reads == expected_reads(both)["bias"] == ("bias_3", "bias_custom")
    assert prove(both).passed


def test_both_maps_of_differential_attention_have_the_bias():
    q, k, v = drawn(B, H, T, 2 * D_K, seed=1), drawn(B, H, S, 2 * D_K, seed=2), drawn(B, H, S, D_V, seed=3)
    learned = {name: drawn(2, seed=n) for n, name in enumerate(("lam_q1", "lam_k1", "lam_q2", "lam_k2"))}
    weights = Weights(**learned, g_heads=torch.ones(D_V, dtype=torch.float64))
    config = AttentionConfig(modifiers=["differential"], positions=["alibi"])
    bias = drawn(T, S)
    trace = attend_qkv(q, k, v, weights=weights, config=config, bias=bias)
    for suffix in ("", "_2"):
        assert near(trace[f"biased_scores{suffix}"], trace[f"scaled_scores{suffix}"] + trace["bias"])
    assert "bias_2" not in trace and prove(trace).passed


def test_a_gradient_reaches_the_bias():
    q, k, v = qkv()
    ours, theirs = (drawn(T, S).requires_grad_() for _ in range(2))
    (attend_qkv(q, k, v, bias=ours)["head_outputs"] * v.mean()).pow(2).sum().backward()
    (F.scaled_dot_product_attention(q, k, v, attn_mask=theirs) * v.mean()).pow(2).sum().backward()
    assert theirs.grad.abs().max() > 1e-4 and near(ours.grad, theirs.grad)


def test_what_is_given_stays_as_it_was():
    bias = drawn(T, S)
    before = bias.clone()
    attend_qkv(*qkv(), bias=bias, config=AttentionConfig(positions=["alibi"]))
    assert torch.equal(bias, before)


# ---- what reads the run ----------------------------------------------------------------------------------------------
def test_a_cell_names_the_number_that_was_given():
    bias = torch.zeros(1, H, 1, S, dtype=torch.float64)
    bias[0, 2, 0, 6] = -1.5
    trace = attend_qkv(*qkv(), bias=bias)
    explained = explain(trace, "biased_scores", (1, 2, 4, 6))
    refs = [piece.ref for piece in explained.pieces if piece.ref is not None]
    assert ("bias", (0, 2, 0, 6)) in [(ref.step, ref.index) for ref in refs]
    assert explained.value == pytest.approx(trace["scaled_scores"][1, 2, 4, 6].item() - 1.5)


@pytest.mark.parametrize("positions", [[], ["alibi"]], ids=["alone", "beside ALiBi"])
@pytest.mark.parametrize("step", ["bias", "biased_scores", "masked_scores"])
def test_a_bias_that_was_added_wrongly_is_found(positions, step):
    trace = attend_qkv(*qkv(), bias=drawn(B, 1, T, S), config=AttentionConfig(positions=positions))
    if trace.step(step).operation is None:
        step = "biased_scores"
    wrong = trace[step].clone()
    wrong[1, 0, 2, 3] += 1e-3
    proof = prove(trace.holding({step: wrong}))
    assert not proof.passed and proof.failed.step == step


def test_torch_tells_a_bias_that_a_run_leaves_out():
    """The scores that are masked read the step before the bias: NumPy agrees with that, torch does not."""
    trace = attend_qkv(*qkv(), bias=drawn(T, S))
    steps = dict(trace.steps)
    masked = steps["masked_scores"]
    operation = replace(masked.operation, reads=("scaled_scores",))
    steps["masked_scores"] = replace(masked, operation=operation)
    inputs = {name: step for name, step in steps.items() if step.operation is None}
    unbiased = replace(trace, steps=inputs).then(*(step.operation for step in steps.values() if step.operation))
    failed = {check.witness for check in prove(unbiased).checks if not check.passed}
    assert failed == {"wiring", "sdpa"}


@pytest.mark.parametrize("name", ["attn_bias", "bias"])
def test_somebodys_function_gets_the_bias_by_its_name(name):
    q, k, v = qkv()
    bias = drawn(T, S)
    functions = {
        "attn_bias": lambda q, k, v, attn_bias: F.scaled_dot_product_attention(q, k, v, attn_mask=attn_bias),
        "bias": lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, attn_mask=bias),
    }
    assert diagnose(functions[name], q, k, v, bias=bias).first is None
    left_out = diagnose(F.scaled_dot_product_attention, q, k, v, bias=bias)
    assert [cause.code for cause in left_out.causes] == ["no_bias"]
