"""QK-norm: q and k over their root mean square, times a gain, against torch and loops."""

import math

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.explanation.arithmetic import explain
from attention_core.verification.proof import prove

B, H, KV, T, S, D_K, D_V = 2, 6, 3, 5, 7, 4, 13
CONFIG = AttentionConfig(modifiers=["qk_norm"], masks=["causal"])


@pytest.fixture
def qkv(generator):
    shapes = (B, H, T, D_K), (B, KV, S, D_K), (B, KV, S, D_V)
    return [3 * torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.fixture
def gains(generator):
    return Weights(**{name: torch.randn(D_K, generator=generator, dtype=torch.float64) for name in ("g_q", "g_k")})


def test_by_torch(qkv, gains):
    q, k, v = qkv
    normed = F.rms_norm(q, (D_K,), gains.g_q, 1e-6), F.rms_norm(k, (D_K,), gains.g_k, 1e-6)
    trace = attend_qkv(*qkv, weights=gains, config=CONFIG)
    for name, expected in zip("qk", normed, strict=True):
        torch.testing.assert_close(trace[name], expected, atol=1e-12, rtol=0)
    allowed = torch.ones(T, S).tril(S - T).bool()
    expected = F.scaled_dot_product_attention(*normed, v, attn_mask=allowed, enable_gqa=True)
    torch.testing.assert_close(trace["head_outputs"], expected, atol=1e-10, rtol=0)


def test_rope_turns_what_was_normed(qkv, gains):
    config = AttentionConfig(modifiers=["qk_norm"], positions=["rope"])
    trace = attend_qkv(*qkv, weights=gains, config=config)
    assert list(trace.steps)[:9] == ["q_heads", "k_heads", "v", "g_q", "g_k", "q_normed", "k_normed", "q", "k"]
    normed = attend_qkv(*qkv, weights=gains, config=AttentionConfig(modifiers=["qk_norm"]))
    assert torch.equal(trace["q_normed"], normed["q"])
    turned = attend_qkv(normed["q"], normed["k"], qkv[2], config=AttentionConfig(positions=["rope"]))
    assert torch.equal(trace["q"], turned["q"]) and torch.equal(trace["k"], turned["k"])


def test_only_directions_count_where_the_gain_is_one(qkv):
    ones = Weights(g_q=torch.ones(D_K).double(), g_k=torch.ones(D_K).double())
    q, k, v = qkv
    config = AttentionConfig(modifiers=[("qk_norm", {"eps": 1e-30})])
    one, other = (attend_qkv(q * by, k, v, weights=ones, config=config)["scores"] for by in (1, 100))
    torch.testing.assert_close(one, other, atol=1e-12, rtol=0)
    assert one.abs().max() <= D_K + 1e-9  # both have the length sqrt(d_k)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_it_is_proven_in_every_precision(dtype, qkv, gains):
    cast = Weights(**{name: tensor.to(dtype) for name, tensor in gains.given().items()})
    config = AttentionConfig(modifiers=["qk_norm"], positions=["rope", "alibi"], masks=["causal"])
    proof = prove(attend_qkv(*(tensor.to(dtype) for tensor in qkv), weights=cast, config=config))
    assert proof.passed and "sdpa" in {check.witness for check in proof.checks}


def test_a_layer_with_it_is_not_torchs_layer(generator):
    x = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    square = torch.eye(4, dtype=torch.float64)
    ones = torch.ones(4, dtype=torch.float64)
    weights = Weights(w_q=square, w_k=square, w_v=square, w_o=square, g_q=ones, g_k=ones)
    proof = prove(attend(x, weights=weights, config=AttentionConfig(modifiers=["qk_norm"])))
    assert proof.passed and "mha" not in {check.witness for check in proof.checks}


def test_the_arithmetic_of_a_cell():
    q = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    weights = Weights(g_q=torch.tensor([2.0, 1.0]).double(), g_k=torch.ones(2).double())
    trace = attend_qkv(q, q, q, weights=weights, config=AttentionConfig(modifiers=[("qk_norm", {"eps": 0.5})]))
    text = explain(trace, "q", (0, 0, 0, 0)).text
    assert text == "3.00 × 2.00 / √((3.00 × 3.00 + 4.00 × 4.00) / 2 + 0.5) = 1.66"
    assert trace["q"][0, 0, 0, 0].item() == pytest.approx(6 / math.sqrt(13))


@pytest.mark.parametrize("name", ["g_q", "g_k"])
def test_a_gain_of_another_width_is_refused_and_so_is_none(name, qkv, gains):
    given = gains.given()
    with pytest.raises(AttentionError, match=f"{name} must be"):
        attend_qkv(*qkv, weights=Weights(**{**given, name: torch.ones(D_K + 1).double()}), config=CONFIG)
    del given[name]
    with pytest.raises(AttentionError, match=f"'qk_norm' needs {name}"):
        attend_qkv(*qkv, weights=Weights(**given), config=CONFIG)
