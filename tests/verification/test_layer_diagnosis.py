"""Somebody's own layer, from x to its output: mistakes, by hand in plain torch, are named; right layers pass."""

import pytest
import torch
import torch.nn.functional as F

from attention_core import (
    AttentionConfig,
    AttentionError,
    Weights,
    assert_attention,
    attend,
    diagnose,
    diagnose_layer,
    weights_of_linears,
)
from attention_core.verification.mistakes import MISTAKE_SENTENCES

B, H, T, S, d = 2, 3, 5, 11, 7
D = H * d  # as many columns as rows, so that a transposed matrix fits


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


X, MEMORY = drawn(B, T, D), drawn(B, S, D, seed=1)
W = {f"w_{role}": drawn(D, D, seed=n + 2) / 4 for n, role in enumerate("qkvo")}
W |= {f"b_{role}": drawn(D, seed=n + 6) for n, role in enumerate("qkvo")}
EARLIER = torch.ones(T, T, dtype=torch.bool).tril()
LENGTHS = (4, 3)
REAL = (torch.arange(T) < torch.tensor(LENGTHS)[:, None])[:, None, None]  # (B, 1, 1, S)


def split(x):
    return x.view(*x.shape[:2], H, -1).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).flatten(2)


def softmax(scores):
    return torch.softmax(scores, -1)


def band(window, queries=T, keys=T):
    ahead = torch.arange(keys) - torch.arange(queries)[:, None] - (keys - queries)
    return (ahead <= 0) & (ahead > -window)


def rotated(x, first=0, base=10000.0):
    angle = (torch.arange(x.shape[-2]) + first)[:, None] * base ** (
        -torch.arange(0, x.shape[-1], 2).double() / x.shape[-1]
    )
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = [even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()]
    return torch.stack(pairs, -1).flatten(-2)


def mine(**other):
    """A layer by hand; `other` replaces one of its parts, as somebody's mistake does."""

    def layer(x, key=None):
        w = W | other.get("w", {})
        source = x if key is None else key
        q, k, v = (y @ w[f"w_{role}"] + w[f"b_{role}"] for y, role in ((x, "q"), (source, "k"), (source, "v")))
        q, k, v = other.get("joint", lambda q, k, v: (q, k, v))(q, k, v)
        q, k, v = (other.get("split", split)(y) for y in (q, k, v))
        q, k = other.get("turn_q", lambda y: y)(q), other.get("turn_k", lambda y: y)(k)
        scores = other.get("change", lambda y: y)(q @ k.mT * other.get("scale", q.shape[-1] ** -0.5))
        if "allowed" in other:
            scores = scores.masked_fill(~other["allowed"], -torch.inf)
        weights = other.get("softmax", softmax)(scores)
        output = other.get("merge", merge)(weights @ v)
        output = other.get("project", lambda y: y @ w["w_o"] + w["b_o"])(output)
        return other.get("last", lambda x, y: y)(x, output), weights

    return layer


def transposed(*roles):
    return mine(w={f"w_{role}": W[f"w_{role}"].T for role in roles})


def scaled_bias(times, *roles):
    return mine(w={f"b_{role}": times * W[f"b_{role}"] for role in roles})


def exchanged(q, k, v):
    roles = dict(zip("qkv", (q, k, v), strict=True))
    return mine(w={f"{letter}_{role}": W[f"{letter}_{other}"] for role, other in roles.items() for letter in "wb"})


def cut_by_head(q, k, v):
    return torch.cat([q, k, v], -1).view(B, T, H, 3, d).unbind(3)


def by_sentences(x):
    output, weights = mine()(x.transpose(0, 1))
    return output.transpose(0, 1), weights


def over_heads(x):
    q, k, v = ((x @ W[f"w_{role}"] + W[f"b_{role}"]).view(B, T, H, d) for role in "qkv")
    return torch.softmax(q @ k.mT / d**0.5, -1).matmul(v).flatten(2) @ W["w_o"] + W["b_o"]


def config(**chosen):
    return {"config": AttentionConfig(heads=H, **chosen)}


PLAIN = config()
Q_AND_K, KEYS_TWICE = exchanged("k", "q", "v"), exchanged("q", "k", "k")
SAME_NUMBERS = {Q_AND_K: {"scores_transposed": {}}, KEYS_TWICE: {"values_from_keys": {}}}  # two names for the same
MISTAKEN_PROJECTIONS = [
    ("matrix_transposed", transposed("q"), {"names": "w_q"}),
    ("matrix_transposed", transposed("v"), {"names": "w_v"}),
    ("matrix_transposed", transposed("q", "k", "v"), {"names": "w_q, w_k, w_v"}),
    ("matrix_transposed", transposed("q", "k", "v", "o"), {"names": "w_q, w_k, w_v, w_o"}),
    ("w_o_transposed", transposed("o"), {}),
    ("bias_missing", scaled_bias(0, "q"), {"names": "b_q"}),
    ("bias_missing", scaled_bias(0, "v"), {"names": "b_v"}),
    ("bias_missing", scaled_bias(0, "q", "k", "v", "o"), {"names": "b_q, b_k, b_v, b_o"}),
    ("b_o_missing", scaled_bias(0, "o"), {}),
    ("bias_twice", scaled_bias(2, "q"), {"names": "b_q"}),
    ("bias_twice", scaled_bias(2, "o"), {"names": "b_o"}),
    ("projections_exchanged", Q_AND_K, {"names": "w_k, w_q, w_v"}),
    ("projections_exchanged", exchanged("v", "q", "k"), {"names": "w_v, w_q, w_k"}),
    ("v_from_w_k", KEYS_TWICE, {}),
    ("qkv_by_head", mine(joint=cut_by_head, split=lambda y: y.transpose(1, 2)), {}),
    ("split_not_transposed", mine(split=lambda y: y.reshape(B, H, -1, d)), {}),
    ("split_interleaved", mine(split=lambda y: y.view(B, T, d, H).permute(0, 3, 1, 2)), {}),
    ("merge_not_transposed", mine(merge=lambda y: y.reshape(B, T, D)), {}),
    ("merge_interleaved", mine(merge=lambda y: y.permute(0, 2, 3, 1).flatten(2)), {}),
    ("w_o_missing", mine(project=lambda y: y), {}),
    ("softmax_pairs", mine(softmax=lambda s: torch.softmax(s.flatten(-2), -1).view(s.shape)), {}),
    ("softmax_heads", mine(softmax=lambda s: torch.softmax(s, 1)), {}),
    ("sigmoid_weights", mine(softmax=torch.sigmoid), {}),
    ("batch_not_first", lambda x: by_sentences(x)[0], {}),
    ("heads_not_transposed", over_heads, {}),
    ("no_scale", mine(scale=1.0), {}),
    ("scale_squared", mine(scale=1 / d), {}),
    ("scale_model_width", mine(scale=D**-0.5), {}),
    ("scale_other", mine(scale=0.6), {"factor": "0.6"}),
]


def normed(gain):
    return lambda y: y / (y.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain


GAINS = {"g_q": drawn(d, seed=20) + 2, "g_k": drawn(d, seed=21) + 2}
SINKS = {"sinks": drawn(H, seed=22)}
GATE = {"w_gate": drawn(D, D, seed=23)}
ROPE = [("rope", {"columns": d - 1})]
FAR_ROPE = [("rope", {"columns": d - 1, "base": 100.0})]


def turned(first=0, base=10000.0):
    return lambda y: torch.cat([rotated(y[..., :-1], first, base), y[..., -1:]], -1)


MISSING_PARTS = [
    ("part_missing", mine(), config(modifiers=[("softcap", {"cap": 1.0})]), {}, {"name": "softcap"}),
    ("part_missing", mine(), config(modifiers=["qk_norm"]), GAINS, {"name": "qk_norm"}),
    (
        "part_missing",
        mine(turn_q=turned(), turn_k=turned()),
        config(modifiers=["qk_norm"], positions=ROPE),
        GAINS,
        {"name": "qk_norm"},
    ),
    ("part_missing", mine(), config(modifiers=["gate"]), GATE, {"name": "gate"}),
    ("part_missing", mine(), config(positions=["sinusoidal"]), {}, {"name": "sinusoidal"}),
    (
        "part_missing",
        mine(),
        config(modifiers=["layer_norm_before"]),
        {"g_layer_before": drawn(D, seed=24) + 2, "b_layer_before": drawn(D, seed=25)},
        {"name": "layer_norm_before"},
    ),
    ("softmax_weights", mine(), config(normaliser="sinks"), SINKS, {"name": "sinks"}),
    ("no_bias", mine(), config(positions=["alibi"]), {}, {}),
    ("no_rope", mine(), config(positions=ROPE), {}, {}),
    ("rope_q_alone", mine(turn_q=turned()), config(positions=ROPE), {}, {}),
    ("rope_k_alone", mine(turn_k=turned()), config(positions=ROPE), {}, {}),
    ("rope_base", mine(turn_q=turned(), turn_k=turned()), config(positions=FAR_ROPE), {}, {"base": "100"}),
    ("residual_missing", mine(), config(residual=True), {}, {}),
    ("no_temperature", mine(), config(temperature=1.7), {}, {}),
]


def masks_by_name(*masks):
    return lambda: config(masks=list(masks))


def by_tensor(allowed):
    return lambda: {**config(), "allowed": allowed.expand(-1, -1, T, -1) if allowed.dim() == 4 else allowed}


SLIDING = [masks_by_name(("sliding", {"window": 3})), by_tensor(band(3))]
LOCAL = [masks_by_name(("local", {"window": 1})), by_tensor(band(2) | band(2).T)]
PADDED = [masks_by_name(("padding", {"lengths": LENGTHS})), by_tensor(REAL)]
BOTH = [masks_by_name("causal", ("padding", {"lengths": LENGTHS})), by_tensor(EARLIER & REAL)]
CAUSAL = [masks_by_name("causal"), by_tensor(EARLIER)]
MASK_MISTAKES = [
    ("window_wider", band(4), SLIDING, {"window": 3, "given": 4}),
    ("window_narrower", band(2), SLIDING, {"window": 3, "given": 2}),
    ("window_missing", EARLIER, SLIDING, {}),
    ("window_both_sides", band(3) | band(3).T, SLIDING, {}),
    ("window_wider", band(3) | band(3).T, LOCAL, {"window": 1, "given": 2}),
    ("no_mask", band(9) | band(9).T, CAUSAL, {}),
    ("causal_too_loose", torch.ones(T, T, dtype=torch.bool).tril(1), CAUSAL, {}),
    ("mask_inverted", ~REAL, PADDED, {}),
    ("one_mask_missing", EARLIER, BOTH, {"name": "allowed_padding"}),
    ("one_mask_missing", REAL, BOTH, {"name": "allowed_causal"}),
    ("one_mask_inverted", EARLIER & ~REAL, BOTH, {"name": "allowed_padding"}),
    ("padding_on_queries", REAL.mT, PADDED, {}),
    ("mask_repeated", REAL[[0, 1, 0, 1, 0, 1], 0].view(B, H, 1, T), PADDED, {}),
    ("mask_of_first_sentence", REAL[:1].expand(B, 1, 1, T), PADDED, {}),
]


@pytest.mark.parametrize("code, layer, values", MISTAKEN_PROJECTIONS, ids=[row[0] for row in MISTAKEN_PROJECTIONS])
def test_a_mistake_from_x_to_the_output_is_named(code, layer, values):
    found = diagnose_layer(layer, X, weights=Weights(**W), **PLAIN)
    assert found.step in ("weights", "output")
    assert {cause.code: cause.values for cause in found.causes} == {code: values, **SAME_NUMBERS.get(layer, {})}
    for cause in found.causes:
        assert str(cause) in str(found) and "{" not in str(cause)


@pytest.mark.parametrize("code, layer, chosen, more, values", MISSING_PARTS, ids=[row[0] for row in MISSING_PARTS])
def test_a_part_that_is_left_out_is_named(code, layer, chosen, more, values):
    found = diagnose_layer(layer, X, weights=Weights(**W, **more), **chosen)
    assert [(cause.code, cause.values) for cause in found.causes] == [(code, values)]


@pytest.mark.parametrize("form", [0, 1], ids=["by name", "by tensor"])
@pytest.mark.parametrize("code, seen, forms, values", MASK_MISTAKES, ids=[row[0] for row in MASK_MISTAKES])
def test_a_mistake_in_a_mask_has_one_name_however_the_mask_was_given(code, seen, forms, values, form):
    found = diagnose_layer(mine(allowed=seen), X, weights=Weights(**W), **forms[form]())
    assert [(cause.code, cause.values) for cause in found.causes] == [(code, values)]


# ---- masks of other sizes, positions, scales: from q, k and v --------------------------------------------------------
def qkv(batch, heads, queries, keys, value_width=d):
    shapes = (batch, heads, queries, d), (batch, heads, keys, d), (batch, heads, keys, value_width)
    return tuple(drawn(*shape, seed=30 + n) for n, shape in enumerate(shapes))


def attended(allowed=None, scale=d**-0.5, first=0, offset=None, width=d):
    def function(q, k, v):
        if offset is not None:
            q, k = turned(offset)(q), turned()(k)
        scores = q @ k.mT * scale
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        return torch.softmax(scores, -1) @ v

    return function


def multiplied(fill):
    def function(q, k, v):
        return torch.softmax(q @ k.mT * d**-0.5 * torch.zeros(T, T).double().masked_fill(~EARLIER, fill), -1) @ v

    return function


BY_HEAD = torch.stack([band(2), band(3), EARLIER])[None]  # (1, H, T, S)
OWN_3 = (drawn(H, H, T, S, seed=26) > -0.5) | (torch.arange(S) == 0)  # as many sentences as heads, each its own mask
REAL_5 = (torch.arange(S) < torch.tensor([11, 7, 3, 5, 2])[:, None])[:, None, None]
LATE = torch.ones(T, S, dtype=torch.bool).tril(S - T)  # query 0 stands at S - T
LATER = {"offset": S - T}
OTHERS = [
    ("mask_of_first_head", attended(BY_HEAD[:, :1]), (B, H, T, T), {"allowed": BY_HEAD}, {}),
    ("mask_for_heads", attended(EARLIER[:, None]), (B, T, T, T), {"config": AttentionConfig(masks=["causal"])}, {}),
    ("mask_for_heads", attended(EARLIER[:, None]), (B, T, T, T), {"allowed": EARLIER}, {}),
    ("mask_heads_as_batch", attended(OWN_3.transpose(0, 1)), (H, H, T, S), {"allowed": OWN_3}, {}),
    ("mask_batch_as_queries", attended(REAL_5[:, 0, 0]), (T, H, T, S), {"allowed": REAL_5.expand(T, 1, T, S)}, {}),
    ("mask_multiplied", multiplied(-1e9), (B, H, T, T), {"allowed": EARLIER}, {"fill": "−1e9"}),
    ("mask_multiplied", multiplied(-torch.inf), (B, H, T, T), {"allowed": EARLIER}, {"fill": "−∞"}),
    ("scale_value_width", attended(scale=13**-0.5), (B, H, T, S, 13), {}, {}),
    (
        "positions_from_0",
        attended(LATE, offset=0),
        (B, H, T, S),
        {"config": AttentionConfig(masks=["causal"], positions=ROPE)},
        LATER,
    ),
    (
        "positions_from_end",
        attended(offset=S - T),
        (B, H, T, S),
        {"config": AttentionConfig(positions=ROPE)},
        {"offset": 6},
    ),
    (
        "offset_missing",
        attended(torch.ones(T, S, dtype=torch.bool).tril(), offset=0),
        (B, H, T, S),
        {"config": AttentionConfig(masks=["causal"], positions=ROPE)},
        LATER,
    ),
]


@pytest.mark.parametrize("code, function, sizes, ours, values", OTHERS, ids=[row[0] for row in OTHERS])
def test_a_mistake_from_q_k_and_v_is_named(code, function, sizes, ours, values):
    found = diagnose(function, *qkv(*sizes), **ours)
    assert [(cause.code, cause.values) for cause in found.causes] == [(code, values)]


def test_every_mistake_of_a_layer_is_tried_here():
    rows = (*MISTAKEN_PROJECTIONS, *MISSING_PARTS, *MASK_MISTAKES, *OTHERS)
    assert {row[0] for row in rows} >= NEW and set(MISTAKE_SENTENCES) >= NEW


NEW = {
    "matrix_transposed",
    "bias_missing",
    "bias_twice",
    "projections_exchanged",
    "qkv_by_head",
    "scale_value_width",
    "rope_q_alone",
    "rope_k_alone",
    "rope_base",
    "positions_from_0",
    "positions_from_end",
    "offset_missing",
    "part_missing",
    "residual_missing",
    "one_mask_inverted",
    "window_wider",
    "window_narrower",
    "window_missing",
    "window_both_sides",
    "mask_for_heads",
    "mask_repeated",
    "mask_of_first_sentence",
    "mask_of_first_head",
    "mask_heads_as_batch",
    "mask_batch_as_queries",
    "mask_multiplied",
    "softmax_pairs",
    "softmax_weights",
    "sigmoid_weights",
    "batch_not_first",
    "heads_not_transposed",
}


# ---- a cached layer that decodes -------------------------------------------------------------------------------------
@pytest.mark.parametrize("new", [1, 2])
def test_a_decoded_token_that_is_rotated_as_the_first_is_named(new):
    ours = config(masks=["causal"], positions=ROPE)
    right, wrong = (mine(turn_q=turned(first), turn_k=turned(), allowed=LATE[-new:]) for first in (S - new, 0))
    found = diagnose_layer(wrong, MEMORY[:, -new:], MEMORY, weights=Weights(**W), **ours)
    assert {"code": "positions_from_0", "offset": S - new} in [{"code": c.code, **c.values} for c in found.causes]
    assert_attention(right, MEMORY[:, -new:], MEMORY, weights=Weights(**W), **ours)


# ---- what is no mistake ----------------------------------------------------------------------------------------------
SAMPLES = [row for row in MISTAKEN_PROJECTIONS if row[0] in ("bias_twice", "qkv_by_head", "no_scale", "softmax_pairs")]
FORMS = {
    "rounded": lambda output, weights: (output.float().double(), weights.float().double()),
    "heads_averaged": lambda output, weights: (output, weights.mean(1)),
    "axes_exchanged": lambda output, weights: output.transpose(0, 1),
}


@pytest.mark.parametrize("beside", FORMS)
@pytest.mark.parametrize("code, layer, values", SAMPLES, ids=[row[0] for row in SAMPLES])
def test_a_mistake_is_named_beside_what_is_none(code, layer, values, beside):
    found = diagnose_layer(lambda x: FORMS[beside](*layer(x)), X, weights=Weights(**W), **PLAIN)
    assert [(cause.code, cause.beside) for cause in found.causes] == [(code, (beside,))]
    assert MISTAKE_SENTENCES[beside].partition("{")[0] in str(found)


def test_a_mistake_without_the_dropout_of_the_config_is_named():
    found = diagnose_layer(mine(scale=1.0), X, weights=Weights(**W), **config(dropout=0.3))
    assert ("no_scale", ("no_dropout",)) in [(cause.code, cause.beside) for cause in found.causes]


@pytest.mark.parametrize("rounded, code", [(torch.float32, "half_precision"), (torch.bfloat16, "half_precision")])
def test_rounding_alone_is_named_as_such(rounded, code):
    found = diagnose_layer(lambda x: mine()(x)[0].to(rounded).double(), X, weights=Weights(**W), **PLAIN)
    assert [(cause.code, cause.values["dtype"]) for cause in found.causes] == [(code, str(rounded)[6:])]


# ---- right layers ----------------------------------------------------------------------------------------------------
def torch_layer():
    layer = torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([W[f"w_{role}"].T for role in "qkv"]))
        layer.in_proj_bias.copy_(torch.cat([W[f"b_{role}"] for role in "qkv"]))
        layer.out_proj.weight.copy_(W["w_o"].T)
        layer.out_proj.bias.copy_(W["b_o"])
    return layer


def fused(x, attn_mask=None):
    q, k, v = (split(x @ W[f"w_{role}"] + W[f"b_{role}"]) for role in "qkv")
    return merge(F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)) @ W["w_o"] + W["b_o"]


@pytest.mark.parametrize(
    "layer, ours",
    [
        (mine(), PLAIN),
        (fused, config(masks=["causal"])),
        (fused, {**PLAIN, "allowed": EARLIER & REAL}),
        (lambda x: torch_layer()(x, x, x), PLAIN),  # its weights are averaged over the heads
        (lambda x: torch_layer()(x, x, x, need_weights=False), PLAIN),
        (mine(turn_q=turned(), turn_k=turned()), config(positions=ROPE)),
        (mine(change=lambda y: 2 * torch.tanh(y / 2)), config(modifiers=[("softcap", {"cap": 2.0})])),
        (mine(last=lambda x, y: x + y), config(residual=True)),
    ],
)
def test_a_right_layer_passes(layer, ours):
    assert_attention(layer, X, weights=Weights(**W), **ours)
    if layer is not fused:
        with pytest.raises(AssertionError, match="yours"):
            assert_attention(layer, X, weights=Weights(**W | {"b_v": W["b_v"] + 1e-3}), **ours)


def test_a_test_fails_with_the_sentence_of_the_cause():
    with pytest.raises(AssertionError, match="no scale: the scores are not divided"):
        assert_attention(attended(scale=1.0), *(tensor[0, 0] for tensor in qkv(1, 1, T, S)))
    assert_attention(attended(), *qkv(B, H, T, S))
    with pytest.raises(AssertionError, match="added twice: b_q"):
        assert_attention(scaled_bias(2, "q"), X, weights=Weights(**W), **PLAIN)
    for count in (0, 4):
        with pytest.raises(AttentionError, match=f"got {count} tensors"):
            assert_attention(attended(), *[X] * count)


def test_linear_layers_become_weights():
    q, o = torch.nn.Linear(D, D), torch.nn.Linear(D, 5, bias=False)
    weights = weights_of_linears(q=q, o=o)
    assert set(weights.given()) == {"w_q", "b_q", "w_o"}
    assert torch.equal(X.float() @ weights.w_q + weights.b_q, X.float() @ q.weight.T + q.bias)
    with pytest.raises(AttentionError, match="k must be"):
        weights_of_linears(k=torch.eye(2))


@pytest.mark.parametrize("seed", [40, 41, 42])
def test_random_numbers_have_no_cause(seed):
    mask = {"allowed": EARLIER & REAL}
    found = diagnose_layer(lambda x: drawn(B, T, D, seed=seed), X, weights=Weights(**W), **PLAIN, **mask)
    assert found.causes == () and "No single change" in str(found)


ALLOWED = torch.ones(T, S, dtype=torch.bool).tril(2) & (torch.arange(S) != 1)
GAINS_OF_ALL = {"g_q_all": drawn(D, seed=44), "g_k_all": drawn(D, seed=45)}
PLACES = {"w_places": drawn(S, D, seed=27)}
TURNED = {"w_qr": drawn(D, H * 2, seed=28), "w_kr": drawn(D, 2, seed=29)}


@pytest.mark.parametrize(
    "ours, more, key",
    [
        ({**PLAIN, "allowed": ALLOWED}, {}, MEMORY),
        (config(masks=["causal"], positions=["decoupled_rope"]), TURNED, None),
        (config(modifiers=["qk_norm_all"]), GAINS_OF_ALL, None),
        (config(positions=["alibi", "learned"], residual=True), PLACES, MEMORY),
        (config(modifiers=["gate", "softcap"], normaliser="sinks", dropout=0.3), GATE | SINKS, None),
        (
            config(masks=[("local_global", {"window": 1, "global_tokens": (0,)}), "causal"], positions=["sinusoidal"]),
            {},
            MEMORY,
        ),
    ],
)
def test_every_kind_of_run_is_compared(ours, more, key):
    """Right numbers agree, and random ones have no cause, whatever changes are tried on the run."""
    weights, inputs = Weights(**W, **more), [X] if key is None else [X, key]
    trace = attend(*inputs, weights=weights, **ours)
    *_, last = trace.steps
    assert_attention(lambda *given: trace[last].clone(), *inputs, weights=weights, **ours)
    found = diagnose_layer(lambda *given: drawn(B, T, D, seed=43), *inputs, weights=weights, **ours)
    assert found.causes == () and found.step == last


def test_a_layer_refuses_what_attend_refuses():
    for tensor, more, match in (
        ([[1.0]], {}, "x must be a torch"),
        (X.to(torch.float8_e4m3fn), {}, "float8"),
        (X.long(), {}, "x must"),
        (X, {"allowed": torch.ones(B, T, T)}, "allowed"),
        (X[..., :-1], {}, "w_q"),
    ):
        with pytest.raises(AttentionError, match=match):
            diagnose_layer(mine(), tensor, weights=Weights(**W), **PLAIN, **more)
    with pytest.raises(AttentionError, match="weights must be"):
        diagnose_layer(mine(), X, weights=W, **PLAIN)
    with pytest.raises(AttentionError, match="your function must return"):
        diagnose_layer(lambda x: None, X, weights=Weights(**W), **PLAIN)
