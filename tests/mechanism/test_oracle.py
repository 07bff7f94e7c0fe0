"""torch as the other witness: what torch.nn computes, and plain loops where it has no such function.

Every size is a prime of its own where it can be, and T != S throughout, so that no transpose passes by luck. The inputs
are eighths, which every dtype holds exactly: the reference is worked out once, in float64, for all of them.
"""

import functools
import math

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, Weights, attend, attend_qkv
from attention_core.mechanism.masks import MASKS, to_mha_mask
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from tests.entries import fitting_number, score_shapes
from tests.mechanism.attention_loops import SCALED_SCORES
from tests.mechanism.attention_loops import score as score_by_loops
from tests.mechanism.mask_pairs import MASK_PAIRS, may_attend, query_place
from tests.mechanism.test_relative_positions import LEARNED

B = 2
SHAPES = [(5, 7, 6, 3), (7, 5, 3, 3), (5, 7, 6, 2)]  # T, S, H, H_kv; with T > S a causal mask leaves rows empty
D_V, A = 13, 17
DTYPES = {torch.float64: 1e-13, torch.float32: 2e-6, torch.float16: 5e-3, torch.bfloat16: 4e-2}  # and what may be lost


def eighths(*shape: int, seed: int) -> torch.Tensor:
    """Whole numbers of eighths from -1 to 1."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-8, 9, shape, generator=generator).double() / 8


# ---- masks, as loops over predicates ---------------------------------------------------------------------------------
CUSTOM = torch.rand(7, 7, generator=torch.Generator().manual_seed(3)) < 0.6
CUSTOM[2] = False  # a query that may attend to nothing
PER_HEAD = torch.rand(B, 6, 7, 7, generator=torch.Generator().manual_seed(4)) < 0.6


def tried_numbers(mask: str) -> dict:
    """The numbers of MASK_PAIRS; of a parameter that is not among them the last but one of the small ones that fit."""
    parameters = MASKS[mask].parameters
    fitting = {each.name: fitting_number(each, B, 5, lambda choices: choices[-2:][0]) for each in parameters}
    return fitting | (MASK_PAIRS[mask].numbers if mask in MASK_PAIRS else {})


PADDING = ("padding", {"lengths": (5, 3)})
CHOSEN = {
    "none": [],
    **{mask: [(mask, tried_numbers(mask))] for mask in MASKS},
    "causal+padding": [("causal", {}), PADDING],
    "causal+local": [("causal", {}), ("local", {"window": 2})],
    "causal+offset": [("causal", {"offset": 1})],
    "causal+offset+sliding": [("causal", {"offset": 1}), ("sliding", {"window": 3})],  # one offset for both
    "custom": [],
    "per_head": [],
    "causal+custom": [("causal", {})],
}


def given_mask(kind: str, T: int, S: int, H: int) -> torch.Tensor | None:
    """The mask that is handed over as a matrix."""
    return {"custom": CUSTOM[:T, :S], "causal+custom": CUSTOM[:T, :S], "per_head": PER_HEAD[:, :H, :T, :S]}.get(kind)


@functools.cache
def mask_by_loops(kind: str, T: int, S: int, H: int) -> torch.Tensor:
    """(B, H, T, S): one pair of query and key after the other, and what is handed over."""
    masks, at = CHOSEN[kind], query_place(CHOSEN[kind], T, S)
    allowed = [
        [[[may_attend(masks, b, h, i + at, j) for j in range(S)] for i in range(T)] for h in range(H)] for b in range(B)
    ]
    given = given_mask(kind, T, S, H)
    return torch.tensor(allowed) if given is None else torch.tensor(allowed) & given


# ---- positions, one at a time ----------------------------------------------------------------------------------------
OWN_SLOPES = (0.5, 0.25, 0.125, 1.0, 2.0, 0.0)
PUBLISHED_SLOPES = {3: (2**-4, 2**-8, 2**-2), 6: (2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3)}  # Press et al.'s own code


def chosen_positions(H: int) -> dict[str, list]:
    return {
        "none": [],
        "sinusoidal": ["sinusoidal"],
        "rope": [("rope", {"style": "interleaved"})],
        "rope_half": [("rope", {"style": "half", "base": 100.0})],
        "alibi": ["alibi"],
        "rope+alibi": ["rope", ("alibi", {"slopes": OWN_SLOPES[:H]})],
    }


def sinusoidal_by_loops(length: int, width: int, at: int) -> torch.Tensor:
    table = torch.zeros(length, width, dtype=torch.float64)
    for t in range(length):
        for column in range(width):
            angle = (t + at) / 10000 ** (2 * (column // 2) / width)
            table[t, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def rope_by_matrices(x: torch.Tensor, style: str, base: float, at: int) -> torch.Tensor:
    """Every pair turned by its own 2 x 2 rotation matrix."""
    length, d = x.shape[-2:]
    turned = torch.zeros_like(x)
    for t in range(length):
        for pair in range(d // 2):
            angle = (t + at) / base ** (2 * pair / d)
            rotation = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
            two = [pair, pair + d // 2] if style == "half" else [2 * pair, 2 * pair + 1]
            turned[..., t, two] = x[..., t, two] @ torch.tensor(rotation, dtype=x.dtype).T
    return turned


@functools.cache
def alibi_by_loops(slopes: tuple[float, ...], T: int, S: int, at: int) -> torch.Tensor:
    bias = torch.zeros(len(slopes), T, S, dtype=torch.float64)
    for h, slope in enumerate(slopes):
        for i in range(T):
            for j in range(S):
                bias[h, i, j] = -slope * abs(i + at - j)
    return bias


# ---- scores, by torch's own functions or one pair at a time ----------------------------------------------------------
def scores_by_torch(score: str, q: torch.Tensor, k: torch.Tensor, weights: Weights) -> torch.Tensor:
    """q (B, H, T, d_q) and k (B, H, S, d_k), as many heads each."""
    if score in ("dot", "scaled_dot"):
        return torch.einsum("bhtd,bhsd->bhts", q, k)
    if score == "cosine":
        return F.cosine_similarity(q[:, :, :, None], k[:, :, None], dim=-1)
    if score == "linear":
        return torch.einsum("bhtd,bhsd->bhts", F.elu(q) + 1, F.elu(k) + 1)
    T, S = q.shape[2], k.shape[2]
    if score == "general":
        pairs = q[:, :, :, None].expand(-1, -1, -1, S, -1), k[:, :, None].expand(-1, -1, T, -1, -1)
        return F.bilinear(*(each.contiguous() for each in pairs), weights.w_a[None])[..., 0]
    return by_pairs(score, q, k, weights)


def by_pairs(score: str, q: torch.Tensor, k: torch.Tensor, weights: Weights) -> torch.Tensor:
    """A score for which torch has no function, one pair after the other: that of attention_loops.py."""
    learned = {name: w.numpy() for name, w in weights.given().items()}
    scores = torch.zeros(*q.shape[:3], k.shape[2], dtype=q.dtype)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        scores[b, h, i, j] = score_by_loops(score, q[b, h, i].numpy(), k[b, h, j].numpy(), learned, h)
    return scores


def softmax_by_sdpa(masked_scores: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Any scores through scaled_dot_product_attention: as the bias onto q · k = 0."""
    T, S = masked_scores.shape[-2:]
    q, k = masked_scores.new_zeros(*masked_scores.shape[:2], T, 1), masked_scores.new_zeros(*v.shape[:2], S, 1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=masked_scores, enable_gqa=True)


# ---- one run of ours beside one of theirs ----------------------------------------------------------------------------
def widths(score: str, position: str) -> tuple[int, int]:
    """d_q and d_k: even for RoPE, different where the score can compare them."""
    if "rope" in position:
        return (14, 14) if SCORES[score].equal_widths else (14, 10)
    return (11, 11) if SCORES[score].equal_widths else (11, 19)


def score_weights(score: str, d_q: int, d_k: int) -> Weights:
    shapes = score_shapes(score, d_q, d_k, own=A)
    return Weights(**{name: eighths(*shape, seed=seed) / 4 for seed, (name, shape) in enumerate(shapes.items(), 5)})


def tensors_of(score: str, position: str, shape: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    """q, k and v: (B, H, T, d), or for the sinusoidal table (B, T, H * d), the heads side by side."""
    T, S, H, KV = shape
    d_q, d_k = widths(score, position)
    sizes = [(H, T, d_q), (KV, S, d_k), (KV, S, D_V)]
    if position == "sinusoidal":
        sizes = [(length, heads * d) for heads, length, d in sizes]
    q, k, v = (eighths(B, *size, seed=seed) for seed, size in enumerate(sizes))
    small = 4 if score == "linear" else 1  # its scores are sums without cancellation
    return q / small, k / small, v


def cut(x: torch.Tensor, heads: int) -> torch.Tensor:
    """(B, T, heads * d): the heads' columns, one block after the other."""
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


@functools.cache
def steps_to_scores(score: str, position: str, shape: tuple[int, ...], at: int) -> dict[str, torch.Tensor]:
    """q, k, v and the scores in float64; masks come later, so one answer serves them all."""
    *_, H, KV = shape
    q, k, v = tensors_of(score, position, shape)
    if position == "sinusoidal":
        starts, heads = (at, 0, 0), (H, KV, KV)
        q, k, v = (x + sinusoidal_by_loops(*x.shape[1:], start) for x, start in zip((q, k, v), starts, strict=True))
        q, k, v = map(cut, (q, k, v), heads)
    if "rope" in position:
        turn = {"rope_half": ("half", 100.0)}.get(position, ("interleaved", 10000.0))
        q, k = rope_by_matrices(q, *turn, at), rope_by_matrices(k, *turn, 0)
    weights = score_weights(score, q.shape[-1], k.shape[-1])
    scores = scores_by_torch(score, q, k.repeat_interleave(H // KV, dim=1), weights)
    scaled = scores / math.sqrt(k.shape[-1]) if score in SCALED_SCORES else scores
    return {"q": q, "k": k, "v": v, "scores": scores, "scaled_scores": scaled}


@functools.cache
def reference(score: str, kind: str, position: str, shape: tuple[int, ...]) -> dict[str, torch.Tensor]:
    """The steps in float64, without any of our own functions."""
    T, S, H, KV = shape
    at = query_place(CHOSEN[kind], T, S)
    steps = dict(steps_to_scores(score, position, shape, at))
    q, k, v, scaled = (steps[name] for name in ("q", "k", "v", "scaled_scores"))
    bias = torch.zeros(H, T, S, dtype=torch.float64)
    if "alibi" in position:
        bias = alibi_by_loops(PUBLISHED_SLOPES[H] if position == "alibi" else OWN_SLOPES[:H], T, S, at)
        steps |= {"bias": bias, "biased_scores": scaled + bias}
    blocked = torch.where(mask_by_loops(kind, T, S, H), 0.0, -math.inf).double()
    everything = torch.eye(S, dtype=torch.float64).expand(B, KV, S, S)  # values that show the weights themselves
    steps["masked_scores"] = scaled + bias + blocked
    if score in ("dot", "scaled_dot"):
        call = {"attn_mask": bias + blocked, "scale": 1.0 if score == "dot" else None, "enable_gqa": True}
        steps["weights"] = F.scaled_dot_product_attention(q, k, everything, **call)
        steps["head_outputs"] = F.scaled_dot_product_attention(q, k, v, **call)
    else:
        steps["weights"] = softmax_by_sdpa(steps["masked_scores"], everything)
        steps["head_outputs"] = softmax_by_sdpa(steps["masked_scores"], v)
    return steps


def run_ours(score, kind, position, shape, dtype, device):
    T, S, H, KV = shape
    tensors = [x.to(device, dtype) for x in tensors_of(score, position, shape)]
    weights = score_weights(score, *widths(score, position)).given().items()
    allowed = given_mask(kind, T, S, H)
    return (attend if position == "sinusoidal" else attend_qkv)(
        *tensors,
        weights=Weights(**{name: w.to(device, dtype) for name, w in weights}),
        config=AttentionConfig(
            score, heads=H, kv_heads=KV, masks=CHOSEN[kind], positions=chosen_positions(H)[position]
        ),
        allowed=None if allowed is None else allowed.to(device),
    )


def assert_close(name: str, ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> None:
    """Within the tolerance of the largest magnitude; minus infinity in the same cells."""
    ours = ours.detach().cpu().double()
    assert ours.shape == theirs.shape, name
    assert torch.equal(ours.isneginf(), theirs.isneginf()), f"{name} is blocked in other cells"
    ours, theirs = (x.masked_fill(theirs.isneginf(), 0.0) for x in (ours, theirs))
    off = (ours - theirs).abs().max() / max(1.0, theirs.abs().max())
    assert off <= tolerance, f"{name} is off by {off:.3g}"


def assert_as_torch(score, kind, position, dtype, device):
    """Every step of ours beside theirs, in every shape."""
    for shape in SHAPES:
        trace = run_ours(score, kind, position, shape, dtype, device)
        for name, theirs in reference(score, kind, position, shape).items():
            assert_close(f"{name} of {shape} in {dtype}", trace[name], theirs, DTYPES[dtype])
        computed = [step.value for step in trace.computed().values()]
        assert {value.dtype for value in computed} <= {dtype, torch.bool}
        assert {value.device.type for value in computed} == {device}
        assert (trace["weights"][trace["masked_scores"].isneginf()] == 0).all()


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", CHOSEN)
@pytest.mark.parametrize("position", chosen_positions(6))
def test_steps_against_torch(score, kind, position):
    for dtype in DTYPES:
        assert_as_torch(score, kind, position, dtype, "cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_steps_against_torch_on_cuda(score, dtype):
    for kind in CHOSEN:
        for position in chosen_positions(6):
            assert_as_torch(score, kind, position, dtype, "cuda")


def test_every_position_is_witnessed():
    """The other positions have their own tests: test_relative_positions, test_latent and test_learned_places."""
    here = {name if isinstance(name, str) else name[0] for chosen in chosen_positions(6).values() for name in chosen}
    assert here | {*LEARNED, "decoupled_rope", "learned"} == set(POSITIONS)


def test_a_mask_leaves_rows_empty():
    assert any(not mask_by_loops(kind, *shape[:3]).any(-1).all() for kind in CHOSEN for shape in SHAPES)


# ---- the whole layer: torch.nn.MultiheadAttention --------------------------------------------------------------------
T, S, HEADS, D, D_KEY, D_VALUE = 5, 7, 3, 33, 19, 23
MHA_MASKS = ["none", "causal", "padding", "matrix", "per_head"]


def mha(generator: torch.Generator, bias: bool, cross: bool) -> torch.nn.MultiheadAttention:
    """A layer with random weights and biases (its own biases would start at 0)."""
    widths = {"kdim": D_KEY, "vdim": D_VALUE} if cross else {}
    layer = torch.nn.MultiheadAttention(D, HEADS, bias=bias, batch_first=True, dtype=torch.float64, **widths)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 4)
    return layer.eval()


def weights_of(layer: torch.nn.MultiheadAttention) -> Weights:
    """The layer's weights in row convention."""
    w = [layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight]
    if layer.in_proj_weight is not None:
        w = layer.in_proj_weight.chunk(3)
    given = {"w_q": w[0].T, "w_k": w[1].T, "w_v": w[2].T, "w_o": layer.out_proj.weight.T}
    if layer.in_proj_bias is not None:
        given |= dict(zip(("b_q", "b_k", "b_v"), layer.in_proj_bias.chunk(3), strict=True), b_o=layer.out_proj.bias)
    return Weights(**given)


def mha_masks(kind: str, T: int, S: int, generator: torch.Generator) -> tuple[dict, dict]:
    """The same mask in their convention and in ours; no row is empty, where theirs would be NaN."""
    random = torch.rand(B * HEADS, T, S, generator=generator) < 0.5
    random[..., 0] = True
    if kind == "causal":
        allowed = torch.ones(T, S).tril(S - T).bool()
        return {"attn_mask": to_mha_mask(allowed)}, {"config": AttentionConfig(heads=HEADS, masks=["causal"])}
    if kind == "padding":
        lengths = (S, 3)
        real = torch.arange(S) < torch.tensor(lengths)[:, None]  # (B, S)
        config = AttentionConfig(heads=HEADS, masks=[("padding", {"lengths": lengths})])
        return {"key_padding_mask": to_mha_mask(real)}, {"config": config}
    config = {"config": AttentionConfig(heads=HEADS)}
    if kind == "matrix":
        return {"attn_mask": to_mha_mask(random[0])}, config | {"allowed": random[0]}
    if kind == "per_head":
        return {"attn_mask": to_mha_mask(random)}, config | {"allowed": random.view(B, HEADS, T, S)}
    return {}, config


@pytest.mark.parametrize("kind", MHA_MASKS)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no_bias"])
@pytest.mark.parametrize("cross", [True, False], ids=["cross", "self"])
def test_layer_against_multihead_attention(kind, bias, cross, generator):
    layer = mha(generator, bias, cross)
    given = [torch.randn(B, T, D, generator=generator, dtype=torch.float64)]
    if cross:
        sizes = [(S, D_KEY), (S, D_VALUE)]
        given += [torch.randn(B, *size, generator=generator, dtype=torch.float64) for size in sizes]
    theirs, ours = mha_masks(kind, T, S if cross else T, generator)
    output, weights = layer(*(given * 3)[:3], average_attn_weights=False, **theirs)
    trace = attend(*given, weights=weights_of(layer), **ours)
    assert_close("weights", trace["weights"], weights.detach(), 1e-12)
    assert_close("output", trace["output"], output.detach(), 1e-12)


def test_masks_swapped_attend_to_the_opposite(generator):
    """What to_mha_mask saves from: their convention read as ours is the complement."""
    layer = mha(generator, bias=True, cross=False)
    x = torch.randn(B, T, D, generator=generator, dtype=torch.float64)
    allowed = torch.ones(T, T).tril().bool()
    allowed[-1, -1] = False
    trace = attend(x, weights=weights_of(layer), config=AttentionConfig(heads=HEADS), allowed=~allowed)
    _, weights = layer(x, x, x, attn_mask=allowed, average_attn_weights=False)
    assert_close("weights", trace["weights"], weights.detach(), 1e-12)


# ---- gradients, scale, temperature, dropout, replaced weights --------------------------------------------------------
@pytest.mark.parametrize("kind", ["none", "causal", "custom", "per_head"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_against_torch(kind, shape, generator):
    T, S, H, _ = shape
    tensors = [x.requires_grad_() for x in tensors_of("scaled_dot", "none", shape)]
    trace = attend_qkv(*tensors, config=AttentionConfig(masks=CHOSEN[kind]), allowed=given_mask(kind, T, S, H))
    allowed = mask_by_loops(kind, T, S, H)
    theirs = F.scaled_dot_product_attention(*tensors, attn_mask=allowed, enable_gqa=True)
    direction = torch.randn(theirs.shape, generator=generator, dtype=torch.float64)
    for name, a, b in zip(
        "qkv",
        torch.autograd.grad((trace["head_outputs"] * direction).sum(), tensors),
        torch.autograd.grad((theirs * direction).sum(), tensors),
        strict=True,
    ):
        assert_close(f"the gradient of {name}", a, b, 1e-12)


@pytest.mark.parametrize(("scale", "temperature"), [(0.3, 1.0), (None, 2.5), (-1.7, 0.5), (0.0, 1.0)])
def test_scale_and_temperature_against_torch(scale, temperature):
    q, k, v = tensors_of("dot", "none", SHAPES[0])
    trace = attend_qkv(q, k, v, config=AttentionConfig(scale=scale, temperature=temperature))
    factor = (q.shape[-1] ** -0.5 if scale is None else scale) / temperature
    theirs = F.scaled_dot_product_attention(q, k, v, scale=factor, enable_gqa=True)
    assert_close("head_outputs", trace["head_outputs"], theirs, 1e-12)


def test_dropout_by_loops(generator):
    q, k, v = tensors_of("dot", "none", SHAPES[0])
    T, S, H, _ = SHAPES[0]
    keep = torch.rand(B, H, T, S, generator=generator) < 0.7
    trace = attend_qkv(q, k, v, config=AttentionConfig(dropout=0.3), keep=keep)
    before, after = trace["weights"], trace["dropped_weights"]
    for index in torch.cartesian_prod(*map(torch.arange, keep.shape)).tolist():
        expected = before[tuple(index)].item() / 0.7 if keep[tuple(index)] else 0.0
        assert after[tuple(index)].item() == pytest.approx(expected, rel=1e-14)
    shared = v.repeat_interleave(2, dim=1)
    assert_close("head_outputs", trace["head_outputs"], torch.einsum("bhts,bhsd->bhtd", after, shared), 1e-12)


def test_drawn_dropout_is_repeatable_and_drops_its_share():
    x = torch.ones(1, 1, 97, 2)
    traces = [attend_qkv(x, x, x, config=AttentionConfig(dropout=0.3, dropout_seed=seed)) for seed in (1, 1, 2)]
    first, again, other = (trace["keep"] for trace in traces)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    spread = math.sqrt(0.3 * 0.7 / first.numel())
    assert abs(first.double().mean().item() - 0.7) < 4 * spread


@pytest.mark.parametrize("kind", ["none", "causal", "custom", "padding"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_uniform_weights_are_the_mean_of_what_is_allowed(kind, shape):
    T, S, H, KV = shape
    q, k, v = tensors_of("dot", "none", shape)
    config = AttentionConfig(masks=CHOSEN[kind], replace="uniform")
    output = attend_qkv(q, k, v, config=config, allowed=given_mask(kind, T, S, H))["head_outputs"]
    allowed = mask_by_loops(kind, T, S, H)
    for b, h, i in torch.cartesian_prod(torch.arange(B), torch.arange(H), torch.arange(T)).tolist():
        values = [v[b, h * KV // H, j] for j in range(S) if allowed[b, h, i, j]]
        mean = torch.stack(values).mean(0) if values else torch.zeros(D_V, dtype=torch.float64)
        assert_close("head_outputs", output[b, h, i], mean, 1e-12)


def test_replaced_weights_mix_the_values(generator):
    T, S, H, _ = SHAPES[0]
    q, k, v = tensors_of("dot", "none", SHAPES[0])
    replacement = torch.randn(B, H, T, S, generator=generator, dtype=torch.float64)
    trace = attend_qkv(q, k, v, replacement=replacement)
    expected = torch.einsum("bhts,bhsd->bhtd", replacement, v.repeat_interleave(2, dim=1))
    assert_close("head_outputs", trace["head_outputs"], expected, 1e-12)


def test_chosen_scores_stand_in_the_place_of_computed_ones(generator):
    """By loops: a chosen score is scaled, masked and normalised like a computed one; all others stay."""
    T, S, H, _ = SHAPES[0]
    q, k, v = tensors_of("dot", "none", SHAPES[0])
    chosen = torch.full((B, H, T, S), torch.nan, dtype=torch.float64)
    chosen[1, 2, 3, 0], chosen[0, 1, 0, 4] = 2.5, -1.25
    plain = attend_qkv(q, k, v, config=AttentionConfig("dot", scale=0.3))
    trace = attend_qkv(q, k, v, config=AttentionConfig("dot", scale=0.3), what_if={"scores": chosen})
    for b, h, i in torch.cartesian_prod(torch.arange(B), torch.arange(H), torch.arange(T)).tolist():
        row = [plain["scores"][b, h, i, j].item() for j in range(S)]
        row = [2.5 if (b, h, i, j) == (1, 2, 3, 0) else -1.25 if (b, h, i, j) == (0, 1, 0, 4) else row[j]
               for j in range(S)]  # fmt: skip
        powers = [math.exp(0.3 * score) for score in row]
        assert trace["weights"][b, h, i].tolist() == pytest.approx([p / sum(powers) for p in powers], rel=1e-12)
    assert torch.equal(trace["computed_scores"], plain["scores"])


def test_chosen_weights_are_mixed_as_they_are(generator):
    """One cell of one head: only its output moves, by the change times the value; the row need not sum to 1."""
    q, k, v = tensors_of("dot", "none", SHAPES[0])
    plain = attend_qkv(q, k, v)
    chosen = torch.full_like(plain["weights"], torch.nan)
    chosen[1, 2, 3, 0] = 0.75
    trace = attend_qkv(q, k, v, what_if={"weights": chosen})
    expected = plain["head_outputs"].clone()
    kv = 2 * v.shape[1] // q.shape[1]
    expected[1, 2, 3] += (0.75 - plain["weights"][1, 2, 3, 0]) * v[1, kv, 0]
    assert_close("head_outputs", trace["head_outputs"], expected, 1e-12)
    assert trace["weights"][1, 2, 3, 0].item() == 0.75
    assert torch.equal(trace["computed_weights"], plain["weights"])


@pytest.mark.parametrize("positions", [(), ("sinusoidal",)])
def test_the_residual_is_the_input_plus_the_output(positions, generator):
    """x + output; with sinusoidal positions it is the x that carries them (Vaswani et al. 2017, figure 1)."""
    x, w = (torch.randn(size, generator=generator, dtype=torch.float64) for size in ((2, 5, 6), (6, 6)))
    trace = attend(x, weights=Weights(w_q=w, w_v=w), config=AttentionConfig(positions=positions, residual=True))
    stream = x.clone()
    if positions:
        for t, m in torch.cartesian_prod(torch.arange(5), torch.arange(3)).tolist():
            angle = t / 10000 ** (2 * m / 6)
            stream[:, t, 2 * m] += math.sin(angle)
            stream[:, t, 2 * m + 1] += math.cos(angle)
    assert_close("residual", trace["residual"], stream + trace["output"], 1e-12)


@pytest.mark.parametrize("score", [name for name, score in SCORES.items() if score.weights])
def test_score_weights_one_a_head(score):
    """A leading axis H: each head as if it were alone with its own."""
    *_, H, KV = SHAPES[0]
    d_q, d_k = widths(score, "none")
    q, k, v = tensors_of(score, "none", SHAPES[0])
    sizes = score_shapes(score, d_q, d_k, own=A)
    weights = {name: eighths(H, *size, seed=seed) for seed, (name, size) in enumerate(sizes.items())}
    scores = attend_qkv(q, k, v, weights=Weights(**weights), config=AttentionConfig(score))["scores"]
    for h in range(H):
        alone = Weights(**{name: w[h] for name, w in weights.items()})
        group = h * KV // H
        expected = scores_by_torch(score, q[:, h : h + 1], k[:, group : group + 1], alone)
        assert_close("scores", scores[:, h : h + 1], expected, 1e-12)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_vector_of_zeros_has_cosine_zero(dtype):
    """0 / 0 is kept away, in float16 too, which cannot hold 1e-8; and the gradient is finite."""
    q, k, v = (x.to(dtype) for x in tensors_of("cosine", "none", SHAPES[0]))
    q[0, 0, 0], k[1, 1, 2] = 0.0, 0.0
    k.requires_grad_()
    scores = attend_qkv(q, k, v, config=AttentionConfig("cosine"))["scores"]
    assert (scores[0, 0, 0] == 0).all()
    assert (scores[1, 2:4, :, 2] == 0).all()  # query heads 2 and 3 read key head 1
    assert torch.autograd.grad(scores.sum(), k)[0].isfinite().all()


def test_weights_on_paper():
    """q = [0, √2] and k = I: e^0 and e^1 over 1 + e."""
    trace = attend_qkv(torch.tensor([[0.0, 2**0.5]], dtype=torch.float64), torch.eye(2).double(), torch.eye(2).double())
    assert trace["weights"].flatten().tolist() == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e)], rel=1e-14)
