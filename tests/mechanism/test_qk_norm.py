"""QK-norm of each head, of all heads together, and as a LayerNorm of each head, against torch and by hand."""

import math

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.explanation.arithmetic import explain
from attention_core.verification.proof import prove
from tests.faces import assert_five_faces

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


# ---- over all heads, and as a LayerNorm ------------------------------------------------------------------------------
def drawn(generator, **sizes: int) -> Weights:
    return Weights(**{name: torch.randn(size, generator=generator).double() for name, size in sizes.items()})


def test_over_all_heads_a_token_is_one_vector_for_torch(qkv, generator):
    q, k, v = qkv
    weights = drawn(generator, g_q_all=H * D_K, g_k_all=KV * D_K)
    trace = attend_qkv(q, k, v, weights=weights, config=AttentionConfig(modifiers=["qk_norm_all"]))
    for role, heads in (("q", q), ("k", k)):
        flat, gain = heads.transpose(1, 2).flatten(2), getattr(weights, f"g_{role}_all")
        normed = F.rms_norm(flat, flat.shape[-1:], gain, 1e-6)
        expected = normed.unflatten(-1, (heads.shape[1], D_K)).transpose(1, 2)
        torch.testing.assert_close(trace[role], expected, atol=1e-12, rtol=0)
    assert_five_faces(trace, "q", "k")


def test_a_layer_norm_of_each_head_is_that_of_torch(qkv, generator):
    q, k, v = qkv
    weights = drawn(generator, g_q_layer=D_K, b_q_layer=D_K, g_k_layer=D_K, b_k_layer=D_K)
    config = AttentionConfig(modifiers=["qk_layer_norm"], positions=["rope"])
    trace = attend_qkv(q, k, v, weights=weights, config=config)
    for role, heads in (("q", q), ("k", k)):
        gain, shift = getattr(weights, f"g_{role}_layer"), getattr(weights, f"b_{role}_layer")
        normed = F.layer_norm(heads, (D_K,), gain, shift, 1e-5)
        torch.testing.assert_close(trace[f"{role}_layer_normed"], normed, atol=1e-12, rtol=0)
    assert_five_faces(trace, "q_centred", "q_layer_normed", "k_layer_normed")


def test_the_arithmetic_of_a_cell_has_the_numbers_of_all_heads():
    q = torch.tensor([[[[3.0]], [[4.0]]]], dtype=torch.float64)  # two heads of one number
    weights = Weights(g_q_all=torch.tensor([2.0, 1.0]).double(), g_k_all=torch.ones(2).double())
    config = AttentionConfig(modifiers=[("qk_norm_all", {"eps": 0.5})])
    trace = attend_qkv(q, q, q, weights=weights, config=config)
    text = explain(trace, "q", (0, 0, 0, 0)).text
    assert text == "3.00 × 2.00 / √((3.00 × 3.00 + 4.00 × 4.00) / 2 + 0.5) = 1.66"
    assert trace["q"].flatten().tolist() == pytest.approx([6 / math.sqrt(13), 4 / math.sqrt(13)])


@pytest.mark.parametrize("name, needed", [("qk_norm_all", "g_k_all"), ("qk_layer_norm", "b_q_layer")])
def test_a_tensor_of_another_width_is_refused(name, needed, qkv, generator):
    sizes = {"g_q_all": H * D_K, "g_k_all": KV * D_K}
    if name == "qk_layer_norm":
        sizes = dict.fromkeys(("g_q_layer", "b_q_layer", "g_k_layer", "b_k_layer"), D_K)
    wrong = drawn(generator, **{**sizes, needed: sizes[needed] + 1})
    with pytest.raises(AttentionError, match=f"{needed} must be"):
        attend_qkv(*qkv, weights=wrong, config=AttentionConfig(modifiers=[name]))
