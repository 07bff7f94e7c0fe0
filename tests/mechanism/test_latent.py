"""Multi-head latent attention: k and v of a latent, and decoupled RoPE, against torch on joined vectors, and loops."""

import cmath
import math

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.explanation.arithmetic import explain
from attention_core.variants.kv_cache import decode
from attention_core.verification.proof import prove

B, H, T, S, D, D_KEY, D_C, D_N, D_R, D_V, D_OUT = 2, 3, 5, 7, 11, 13, 17, 19, 4, 23, 29
BASE, EPS = 50.0, 1e-3
MLA = {
    "heads": H,
    "modifiers": [("latent", {"eps": EPS})],
    "positions": [("decoupled_rope", {"base": BASE})],
}
SHAPES = {
    "w_q": (D, H * D_N),
    "w_k": (D_C, H * D_N),
    "w_v": (D_C, H * D_V),
    "w_o": (H * D_V, D_OUT),
    "w_dkv": (D, D_C),
    "g_latent": (D_C,),
    "w_qr": (D, H * D_R),
    "w_kr": (D, D_R),
}


@pytest.fixture
def draw(generator):
    return lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)


def weights_of(draw, **other) -> Weights:
    return Weights(**{name: draw(*shape) / 3 for name, shape in (SHAPES | other).items() if shape})


def cut(x: torch.Tensor) -> torch.Tensor:
    """(B, T, H * d): each head's columns, (B, H, T, d)."""
    return torch.stack(x.chunk(H, dim=-1), dim=1)


def turned(x: torch.Tensor) -> torch.Tensor:
    """Neighbours are the two parts of a complex number, which is multiplied by e^(i angle)."""
    out = x.clone()
    for place in range(x.shape[-2]):
        for pair in range(x.shape[-1] // 2):
            angle = place / BASE ** (2 * pair / x.shape[-1])
            spin = cmath.exp(1j * angle)
            points = x[..., place, 2 * pair] + 1j * x[..., place, 2 * pair + 1]
            moved = points * spin
            out[..., place, 2 * pair], out[..., place, 2 * pair + 1] = moved.real, moved.imag
    return out


def by_torch(x: torch.Tensor, context: torch.Tensor, w: Weights, is_causal: bool) -> torch.Tensor:
    """As DeepSeek-V2 writes it: every query and key is one vector, its turned numbers behind the others."""
    latent = F.rms_norm(context @ w.w_dkv, (D_C,), w.g_latent, EPS)
    turned_keys = turned(context @ w.w_kr)[:, None].expand(-1, H, -1, -1)
    q = torch.cat([cut(x @ w.w_q), turned(cut(x @ w.w_qr))], dim=-1)
    k = torch.cat([cut(latent @ w.w_k), turned_keys], dim=-1)
    mixed = F.scaled_dot_product_attention(q, k, cut(latent @ w.w_v), is_causal=is_causal)
    return torch.cat(mixed.unbind(1), dim=-1) @ w.w_o


def test_by_torch_on_joined_vectors(draw):
    x, w = draw(B, T, D), weights_of(draw)
    trace = attend(x, weights=w, config=AttentionConfig(masks=["causal"], **MLA))
    torch.testing.assert_close(trace["output"], by_torch(x, x, w, is_causal=True), atol=1e-10, rtol=0)


@pytest.mark.parametrize("inputs", [2, 3])
def test_queries_of_another_width(inputs, draw):
    w = weights_of(draw, w_dkv=(D_KEY, D_C), w_kr=(D_KEY, D_R))
    x, context = draw(B, T, D), draw(B, S, D_KEY)
    trace = attend(x, *([context] * (inputs - 1)), weights=w, config=AttentionConfig(**MLA))
    torch.testing.assert_close(trace["output"], by_torch(x, context, w, is_causal=False), atol=1e-10, rtol=0)
    assert trace.step("w_dkv").dims == ("D_key", "d_c") and trace.step("w_k").dims == ("d_c", "H_kv·d_k")


def test_scores_by_loops(draw):
    x, w = draw(B, T, D), weights_of(draw)
    trace = attend(x, weights=w, config=AttentionConfig(**MLA))
    for h, i, j in ((0, 0, 0), (2, 4, 1)):
        plain = sum(trace["q"][1, h, i, m].item() * trace["k"][1, h, j, m].item() for m in range(D_N))
        far = sum(trace["q_r"][1, h, i, m].item() * trace["k_r"][1, j, m].item() for m in range(D_R))
        found = trace["scaled_scores"][1, h, i, j].item()
        assert found == pytest.approx((plain + far) / math.sqrt(D_N + D_R), abs=1e-12)


def test_the_latent_alone_and_the_positions_alone(draw):
    x = draw(B, T, D)
    latent = {name: SHAPES[name] for name in ("w_qr", "w_kr")}
    w = weights_of(draw, **dict.fromkeys(latent))
    trace = attend(x, weights=w, config=AttentionConfig(heads=H, modifiers=["latent"]))
    plain = attend(
        x,
        trace["latent_x"],
        weights=Weights(w_q=w.w_q, w_k=w.w_k, w_v=w.w_v, w_o=w.w_o),
        config=AttentionConfig(heads=H),
    )
    torch.testing.assert_close(trace["output"], plain["output"], atol=1e-12, rtol=0)
    w = weights_of(draw, w_dkv=None, g_latent=None, w_k=(D, H * D_N), w_v=(D, H * D_V))
    trace = attend(x, weights=w, config=AttentionConfig(heads=H, positions=["decoupled_rope"]))
    assert trace.step("scaled_scores").operation.params["factor"] == pytest.approx((D_N + D_R) ** -0.5, rel=1e-15)
    assert prove(trace).passed


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("more", [["sinusoidal"], ["rope"], ["alibi"]], ids=str)
def test_it_is_proven_beside_others(dtype, more, draw):
    shapes = {"w_q": (D, H * 6), "w_k": (D_C, H * 6), "g_q": (6,), "g_k": (6,)}
    w = weights_of(draw, **shapes)
    cast = Weights(**{name: tensor.to(dtype) for name, tensor in w.given().items()})
    config = AttentionConfig(
        heads=H, modifiers=["latent", "qk_norm"], positions=["decoupled_rope", *more], masks=["causal"]
    )
    proof = prove(attend(draw(B, T, D).to(dtype), weights=cast, config=config))
    assert proof.passed and proof.worst < 1e-12
    assert {"sdpa"} <= {check.witness for check in proof.checks}


def test_word_by_word_it_gives_the_same(draw):
    x, w = draw(B, T, D), weights_of(draw)
    config = AttentionConfig(masks=["causal"], **MLA)
    full = attend(x, weights=w, config=config)
    steps = list(decode(x, weights=w, config=config))
    for t, step in enumerate(steps):
        torch.testing.assert_close(step["output"], full["output"][:, t : t + 1], atol=1e-12, rtol=0)
        assert step["k_r"].shape == (B, t + 1, D_R)


# ---- what does not fit -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"w_dkv": None}, "'latent' needs w_dkv"),
        ({"g_latent": None}, "'latent' needs g_latent"),
        ({"w_kr": None}, "'decoupled_rope' needs w_kr"),
        ({"w_dkv": (D_KEY, D_C)}, r"w_dkv must be \(11, 17\): its shape is \(13, 17\)"),
        ({"g_latent": (D_V,)}, r"w_dkv must be \(11, 23\)"),
        ({"w_k": (D, H * D_N)}, r"w_k .* latent_x"),
        ({"w_qr": (D, H * D_R + 1)}, r"w_qr must be \(11, 12\): its shape is \(11, 13\)"),
        ({"w_qr": (D, H * 5), "w_kr": (D, 5)}, "RoPE rotates numbers in pairs, so the width must be even: it is 5"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_named(shapes, message, draw):
    with pytest.raises(AttentionError, match=message):
        attend(draw(B, T, D), weights=weights_of(draw, **shapes), config=AttentionConfig(**MLA))


def test_q_k_and_v_that_are_given_have_no_latent(draw):
    q = draw(T, 4)
    for choice in ({"modifiers": ["latent"]}, {"positions": ["decoupled_rope"]}):
        with pytest.raises(AttentionError) as refused:
            attend_qkv(q, q, q, config=AttentionConfig(**choice))
        assert refused.value.code == "no_input"


# ---- in words --------------------------------------------------------------------------------------------------------
def test_the_sums_of_one_pair():
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    eye, two = torch.eye(2, dtype=torch.float64), torch.ones(2, 2, dtype=torch.float64)
    weights = Weights(w_kr=two, w_qr=two)
    trace = attend(x, weights=weights, config=AttentionConfig("dot", positions=["decoupled_rope"]))
    assert explain(trace, "decoupled_rope_scores", (0, 0, 1, 1)).text.startswith("4.00 + ")
    gap = (
        trace["decoupled_rope_scores"] - trace["scores"]
    )  # 1 x 2 times 2 cos of one place, of two words that are alike
    assert gap[0, 0, 0, 1].item() == pytest.approx(4 * math.cos(1), abs=1e-12)
    latent = attend(
        x,
        weights=Weights(w_dkv=eye, g_latent=eye[0] + eye[1]),
        config=AttentionConfig(modifiers=[("latent", {"eps": 1})]),
    )
    assert explain(latent, "latent_x", (0, 1, 1)).text == "2.00 × 1.00 / √((0.00 × 0.00 + 2.00 × 2.00) / 2 + 1) = 1.15"
