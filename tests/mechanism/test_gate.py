"""The output gate: each output times a number between 0 and 1, against loops and torch, with its proof and refusals."""

import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.analysis.head_contributions import with_contributions
from attention_core.explanation.arithmetic import explain
from attention_core.variants.kv_cache import decode
from attention_core.verification.proof import prove

B, T, S, D, H, KV, D_K, D_V, D_OUT = 2, 5, 7, 11, 6, 3, 4, 13, 17
CONFIG = AttentionConfig(heads=H, kv_heads=KV, modifiers=["gate"], masks=["causal"])


@pytest.fixture
def given(generator):
    def numbers(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    shapes = {"w_q": (D, H * D_K), "w_k": (D, KV * D_K), "w_v": (D, KV * D_V), "w_o": (H * D_V, D_OUT)}
    weights = {name: numbers(*shape) / 3 for name, shape in shapes.items()}
    return numbers(B, T, D), numbers(B, S, D), {**weights, "w_gate": numbers(D, H * D_V)}


def test_by_loops(given):
    query, key, weights = given
    trace = attend(query, key, weights=Weights(**weights), config=CONFIG)
    for h in range(H):
        for t in range(T):
            for m in range(D_V):
                inside = sum(query[1, t, n].item() * weights["w_gate"][n, h * D_V + m].item() for n in range(D))
                opened = 1 / (1 + math.exp(-inside))
                assert trace["gate"][1, h, t, m].item() == pytest.approx(opened, abs=1e-12)
                let = trace["head_outputs"][1, h, t, m].item() * opened
                assert trace["gated_outputs"][1, h, t, m].item() == pytest.approx(let, abs=1e-12)
                assert trace["concat"][1, t, h * D_V + m] == trace["gated_outputs"][1, h, t, m]


def test_by_torch(given):
    query, key, weights = given
    plain = {name: tensor for name, tensor in weights.items() if name != "w_gate"}
    config = AttentionConfig(heads=H, kv_heads=KV, masks=["causal"])
    ungated = attend(query, key, weights=Weights(**plain), config=config)
    expected = (ungated["concat"] * torch.sigmoid(query @ weights["w_gate"])) @ weights["w_o"]
    found = attend(query, key, weights=Weights(**weights), config=CONFIG)["output"]
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_it_is_proven_in_every_precision(dtype, given):
    query, key, weights = given
    cast = Weights(**{name: tensor.to(dtype) for name, tensor in weights.items()})
    config = AttentionConfig(heads=H, kv_heads=KV, modifiers=["gate", "qk_norm"], positions=["sinusoidal"])
    with pytest.raises(AttentionError, match="'qk_norm' needs g_q"):
        attend(query.to(dtype), key.to(dtype), weights=cast, config=config)
    config = AttentionConfig(heads=H, kv_heads=KV, modifiers=["gate", "softcap"], positions=["sinusoidal", "alibi"])
    trace = attend(query.to(dtype), key.to(dtype), weights=cast, config=config)
    assert trace.step("gate").operation.reads == ("positioned_query", "w_gate")  # as q reads it
    assert prove(trace).passed


def test_a_square_layer_with_a_gate_is_not_torchs_layer(generator):
    x, square = (torch.randn(size, 4, generator=generator, dtype=torch.float64) for size in (3, 4))
    weights = Weights(w_q=square, w_k=square, w_v=square, w_o=square, w_gate=square)
    proof = prove(attend(x, weights=weights, config=AttentionConfig(modifiers=["gate"])))
    assert proof.passed and "mha" not in {check.witness for check in proof.checks}


def test_a_gate_of_zeros_lets_half_through(given):
    query, key, weights = given
    shut = Weights(**{**weights, "w_gate": torch.zeros(D, H * D_V).double()})
    trace = attend(query, key, weights=shut, config=CONFIG)
    torch.testing.assert_close(trace["gated_outputs"], trace["head_outputs"] / 2, atol=1e-14, rtol=0)


def test_each_head_adds_what_its_gate_lets_through(given):
    query, key, weights = given
    trace = with_contributions(attend(query, key, weights=Weights(**weights), config=CONFIG))
    torch.testing.assert_close(trace["contributions"].sum(1), trace["output"], atol=1e-12, rtol=0)


def test_decoding_one_by_one_is_the_full_pass(given):
    query, _, weights = given
    full = attend(query, weights=Weights(**weights), config=CONFIG)
    for t, step in enumerate(decode(query, weights=Weights(**weights), config=CONFIG)):
        torch.testing.assert_close(step["output"][:, 0], full["output"][:, t], atol=1e-12, rtol=0)


def test_the_arithmetic_of_its_cells():
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    w_gate = torch.tensor([[math.log(3), 0.0], [0.0, 0.0]], dtype=torch.float64)
    trace = attend(x, weights=Weights(w_gate=w_gate), config=AttentionConfig(modifiers=["gate"]))
    assert explain(trace, "gate", (0, 0, 0, 0)).text == "σ(1.00 × 1.10 + 2.00 × 0.00) = 0.75"
    assert explain(trace, "gated_outputs", (0, 0, 0, 0)).text == "1.00 × 0.75 = 0.75"


def test_q_k_and_v_alone_have_no_gate():
    one = torch.ones(2, 2)
    with pytest.raises(AttentionError) as refused:
        attend_qkv(one, one, one, weights=Weights(w_gate=one), config=AttentionConfig(modifiers=["gate"]))
    assert refused.value.code == "no_input"


@pytest.mark.parametrize("shape", [(D + 1, H * D_V), (D, H * D_V + 1), (H, D, D_V)])
def test_a_gate_of_another_shape_is_refused(shape, given):
    query, key, weights = given
    with pytest.raises(AttentionError, match="w_gate must be"):
        attend(query, key, weights=Weights(**{**weights, "w_gate": torch.ones(shape).double()}), config=CONFIG)
