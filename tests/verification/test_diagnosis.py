"""Somebody's own attention: wrong ones, written by hand in plain torch, are named; right ones give no false alarm."""

import pickle

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv, diagnose
from attention_core.mechanism.positions import alibi_slopes
from attention_core.verification.causes import find_causes
from attention_core.verification.diagnosis import first_difference, infer_precision
from attention_core.verification.mistakes import MISTAKE_SENTENCES, MISTAKES
from attention_core.verification.proof import prove
from attention_core.verification.tensor_layout import TENSOR_LAYOUTS, arrange_axes, infer_layout
from tests.verification.test_layer_diagnosis import NEW

B, H, T, S, D_K, D_V = 2, 3, 5, 7, 11, 13  # every axis another prime
ROOT = D_K**-0.5
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def qkv(queries=T, keys=S, heads=H, kv_heads=None, width=D_K, value_width=D_V, dtype=torch.float64):
    kv_heads = kv_heads or heads
    shapes = (B, heads, queries, width), (B, kv_heads, keys, width), (B, kv_heads, keys, value_width)
    return tuple(drawn(*shape, seed=n, dtype=dtype) for n, shape in enumerate(shapes))


def lower_right(queries=T, keys=S):
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


def masked(scores, allowed, value=-torch.inf):
    return scores.masked_fill(~allowed, value)


def softmax(scores, dim=-1):
    powers = torch.exp(scores - scores.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


def merged(heads):
    return torch.cat(list(heads.unbind(1)), dim=-1)  # H times (B, T, d_v) -> (B, T, H * d_v)


def mixed(weights, v):
    return merged(weights @ v), weights


# ---- wrong attention, one fault each ---------------------------------------------------------------------------------
def no_scale(q, k, v):
    return mixed(softmax(q @ k.mT), v)


def scale_squared(q, k, v):
    return mixed(softmax(q @ k.mT / D_K), v)


def scale_inverse(q, k, v):
    return mixed(softmax(q @ k.mT * D_K**0.5), v)


def scale_model_width(q, k, v):
    return mixed(softmax(q @ k.mT / (H * D_K) ** 0.5), v)


def scale_keys(q, k, v):
    return mixed(softmax(q @ k.mT / k.shape[-2] ** 0.5), v)


def k_not_transposed(q, k, v):
    return mixed(softmax(q @ k.reshape(B, H, D_K, S) / D_K**0.5), v)


def softmax_undivided(q, k, v):
    return mixed(torch.exp(q @ k.mT / D_K**0.5), v)


def right(q, k, v):
    return mixed(softmax(q @ k.mT / D_K**0.5), v)


def temperature_inverse(q, k, v):
    return mixed(softmax(q @ k.mT / D_K**0.5 * 1.7), v)


def scores_transposed(q, k, v):
    return mixed(softmax(k @ q.mT / D_K**0.5), v)


def distances(queries, keys):
    return (torch.arange(queries)[:, None] - torch.arange(keys)).abs().double()


def bias_sign(q, k, v):
    slopes = torch.tensor(alibi_slopes(H), dtype=torch.float64)[:, None, None]
    return mixed(softmax(q @ k.mT / D_K**0.5 + slopes * distances(T, S)), v)


GIVEN_BIAS = drawn(B, 1, T, S, seed=5).float().double()  # the same numbers in both precisions


def given_bias_sign(q, k, v):
    return mixed(softmax(q @ k.mT / D_K**0.5 - GIVEN_BIAS), v)


def given_bias_alone(q, k, v):
    return mixed(softmax(q @ k.mT / D_K**0.5 + GIVEN_BIAS), v)


def turned(x, half):
    T, d = x.shape[-2:]
    angle = torch.arange(T)[:, None] * 10000.0 ** (-2.0 * torch.arange(d // 2).double() / d)
    cos, sin, y = angle.cos(), angle.sin(), torch.empty_like(x)
    one, two = (slice(0, d // 2), slice(d // 2, d)) if half else (slice(0, d, 2), slice(1, d, 2))
    y[..., one] = x[..., one] * cos - x[..., two] * sin
    y[..., two] = x[..., one] * sin + x[..., two] * cos
    return y


def rope_pairs(q, k, v):
    return mixed(softmax(turned(q, True) @ turned(k, True).mT / q.shape[-1] ** 0.5), v)


def no_rope(q, k, v):
    return mixed(softmax(q @ k.mT / q.shape[-1] ** 0.5), v)


def mask_inverted(q, k, v):
    return mixed(torch.softmax(masked(q @ k.mT * ROOT, ~lower_right()), -1), v)


def mask_transposed(q, k, v):
    return mixed(softmax(masked(q @ k.mT * ROOT, lower_right(T, T).T)), v)


def upper_left(q, k, v):
    return mixed(softmax(masked(q @ k.mT * ROOT, torch.ones(T, S, dtype=torch.bool).tril())), v)


def lower_right_mask(q, k, v):
    return mixed(softmax(masked(q @ k.mT * ROOT, lower_right())), v)


def too_strict(q, k, v):
    return mixed(softmax(masked(q @ k.mT * ROOT, torch.ones(T, S, dtype=torch.bool).tril(S - T - 1))), v)


def too_strict_with_nan(q, k, v):
    return mixed(torch.softmax(masked(q @ k.mT * ROOT, torch.ones(T, T, dtype=torch.bool).tril(-1)), -1), v)


def too_loose(q, k, v):
    return mixed(softmax(masked(q @ k.mT * ROOT, torch.ones(T, S, dtype=torch.bool).tril(S - T + 1))), v)


def mask_after_softmax(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT) * lower_right(), v)


def mask_as_zero(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT * lower_right()), v)


def mask_as_number(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT + lower_right().double()), v)


HOLE = torch.ones(T, S, dtype=torch.bool).tril(1) & (torch.arange(T) > 0)[:, None]  # query 0 may attend to nothing


def finite_fill(q, k, v):
    return mixed(softmax(masked(q @ k.mT * ROOT, HOLE, -1e9)), v)


def finfo_fill(q, k, v):
    scores = masked(q @ k.mT * ROOT, HOLE, torch.finfo(torch.float32).min)
    return {"masked_scores": scores, "output": merged(softmax(scores) @ v)}


def finite_added(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT + -1e9 * ~HOLE), v)


def nan_rows(q, k, v):
    return mixed(torch.softmax(masked(q @ k.mT * ROOT, HOLE), -1), v)


def no_scale_and_nan_rows(q, k, v):
    return mixed(torch.softmax(masked(q @ k.mT, HOLE), -1), v)


def softmax_queries(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT, -2), v)


def softmax_heads(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT, 1), v)


def softmax_batch(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT, 0), v)


def no_softmax(q, k, v):
    return mixed(q @ k.mT * ROOT, v)


def weights_transposed(q, k, v):
    return mixed(softmax(q @ k.mT * ROOT).mT, v)


def values_from_keys(q, k, v):
    return merged(softmax(q @ k.mT * ROOT) @ k), softmax(q @ k.mT * ROOT)


def values_unmixed(q, k, v):
    return merged(v), softmax(q @ k.mT * ROOT)


def groups_tiled(q, k, v):
    k, v = k.repeat(1, 3, 1, 1), v.repeat(1, 3, 1, 1)  # 0 1 0 1 0 1
    return mixed(softmax(q @ k.mT * ROOT), v)


def split_by_view(x):
    B, heads, length, width = x.shape
    projected = merged(x)  # (B, T, H * d)
    return projected.view(B, heads, length, width)


def split_not_transposed(q, k, v):
    q, k, v = map(split_by_view, (q, k, v))
    return mixed(softmax(q @ k.mT * ROOT), v)


def merge_not_transposed(q, k, v):
    weights = softmax(q @ k.mT * ROOT)
    return (weights @ v).reshape(B, T, H * D_V), weights


def merge_interleaved(q, k, v):
    weights = softmax(q @ k.mT * ROOT)
    return torch.stack(list((weights @ v).unbind(1)), dim=-1).reshape(B, T, D_V * H), weights


def dropout(q, k, v):
    weights = softmax(q @ k.mT * ROOT)
    keep = drawn(B, H, T, S, seed=9) > -0.5
    return mixed(weights * keep / (1 - 0.3), v)


CAUSAL = AttentionConfig(masks=["causal"])
SQUARE = {"keys": T, "queries": T}
FAULTS = [  # the wrong function, the cause's code, the first step that differs, sizes, how ours is run
    (softmax_undivided, "softmax_undivided", "weights", {}, {}),
    (k_not_transposed, "k_not_transposed", "weights", {}, {}),
    (no_scale, "no_scale", "weights", {}, {}),
    (scale_squared, "scale_squared", "weights", {}, {}),
    (scale_inverse, "scale_inverse", "weights", {}, {}),
    (scale_model_width, "scale_model_width", "weights", {}, {}),
    (scale_keys, "scale_keys", "weights", {}, {}),
    (right, "scale_root", "weights", {}, {"config": AttentionConfig(scale=0.7)}),
    (right, "no_temperature", "weights", {}, {"config": AttentionConfig(temperature=1.7)}),
    (temperature_inverse, "temperature_inverse", "weights", {}, {"config": AttentionConfig(temperature=1.7)}),
    (scores_transposed, "scores_transposed", "weights", SQUARE, {}),
    (bias_sign, "bias_sign", "weights", {}, {"config": AttentionConfig(positions=["alibi"])}),
    (right, "no_bias", "weights", {}, {"config": AttentionConfig(positions=["alibi"])}),
    (right, "no_bias", "weights", {}, {"bias": GIVEN_BIAS}),
    (given_bias_sign, "bias_sign", "weights", {}, {"bias": GIVEN_BIAS}),
    (
        given_bias_alone,
        "one_bias_missing",
        "weights",
        {},
        {"bias": GIVEN_BIAS, "config": AttentionConfig(positions=["alibi"])},
    ),
    (rope_pairs, "rope_pairs", "weights", {"width": 12}, {"config": AttentionConfig(positions=["rope"])}),
    (no_rope, "no_rope", "weights", {"width": 12}, {"config": AttentionConfig(positions=["rope"])}),
    (right, "no_mask", "weights", {}, {"config": CAUSAL}),
    (mask_inverted, "mask_inverted", "weights", {}, {"config": CAUSAL}),
    (mask_transposed, "mask_transposed", "weights", SQUARE, {"config": CAUSAL}),
    (upper_left, "causal_upper_left", "weights", {}, {"config": CAUSAL}),
    (upper_left, "causal_upper_left", "weights", {}, {"allowed": lower_right()}),
    (
        lower_right_mask,
        "causal_lower_right",
        "weights",
        {},
        {"config": AttentionConfig(masks=[("causal", {"offset": 0})])},
    ),
    (too_strict, "causal_too_strict", "weights", {}, {"config": CAUSAL}),
    (too_strict_with_nan, "causal_too_strict", "weights", SQUARE, {"config": CAUSAL}),
    (too_loose, "causal_too_loose", "weights", {}, {"config": CAUSAL}),
    (lower_right_mask, "causal_added", "weights", {}, {}),
    (upper_left, "causal_added_upper_left", "weights", {}, {}),
    (
        lower_right_mask,
        "one_mask_missing",
        "weights",
        {},
        {"config": AttentionConfig(masks=["causal", ("padding", {"lengths": (5, 3)})])},
    ),
    (mask_after_softmax, "mask_after_softmax", "weights", {}, {"config": CAUSAL}),
    (mask_as_zero, "mask_as_zero", "weights", {}, {"config": CAUSAL}),
    (mask_as_number, "mask_as_number", "weights", {}, {"config": CAUSAL}),
    (finite_fill, "finite_fill", "weights", {}, {"allowed": HOLE}),
    (finfo_fill, "finite_fill", "masked_scores", {}, {"allowed": HOLE}),
    (finite_added, "finite_added", "weights", {}, {"allowed": HOLE}),
    (nan_rows, "nan_rows", "weights", {}, {"allowed": HOLE}),
    (no_scale_and_nan_rows, "no_scale", "weights", {}, {"allowed": HOLE}),
    (softmax_queries, "softmax_queries", "weights", {}, {}),
    (softmax_heads, "softmax_heads", "weights", {}, {}),
    (softmax_batch, "softmax_batch", "weights", {}, {}),
    (no_softmax, "no_softmax", "weights", {}, {}),
    (weights_transposed, "weights_transposed", "weights", SQUARE, {}),
    (right, "no_dropout", "output", {}, {"config": AttentionConfig(dropout=0.3)}),
    (dropout, "dropout", "weights", {}, {}),
    (values_from_keys, "values_from_keys", "output", {"value_width": D_K}, {}),
    (values_unmixed, "values_unmixed", "output", SQUARE, {}),
    (groups_tiled, "groups_tiled", "weights", {"heads": 6, "kv_heads": 2}, {}),
    (split_not_transposed, "split_not_transposed", "weights", {}, {}),
    (merge_not_transposed, "merge_not_transposed", "output", {}, {}),
    (merge_interleaved, "merge_interleaved", "output", {}, {}),
]
NAMES = [f"{code}-{function.__name__}" for function, code, *_ in FAULTS]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("function, code, step, sizes, ours", FAULTS, ids=NAMES)
def test_a_fault_is_named_with_its_step_its_place_and_its_cause(function, code, step, sizes, ours, dtype):
    q, k, v = qkv(**sizes, dtype=dtype)
    ours = ours | {"bias": ours["bias"].to(dtype)} if "bias" in ours else ours
    found = diagnose(lambda q, k, v: cast(function(q.double(), k.double(), v.double()), dtype), q, k, v, **ours)
    assert found.step == step
    assert [cause.code for cause in found.causes] == [code]
    assert found.first.step in str(found) and MISTAKE_SENTENCES[code].partition("{")[0] in str(found)
    wrong, good = returned(function(q.double(), k.double(), v.double()), step), attend_qkv(q, k, v, **ours)[step]
    gap = (wrong - good).abs().nan_to_num(nan=torch.inf, posinf=torch.inf).masked_fill(wrong == good, 0)
    assert found.first.theirs == pytest.approx(wrong[found.first.index].item(), rel=1e-5, nan_ok=True)
    assert found.first.ours == pytest.approx(good[found.first.index].item(), rel=1e-5, abs=1e-5)
    assert gap[found.first.index] == pytest.approx(gap.max().item(), rel=1e-4)
    assert found.first.first == tuple((gap > 1e-4 * good[good.isfinite()].abs().max()).nonzero()[0].tolist()) or (
        gap[found.first.first] <= 1e-3
    )


def cast(result, dtype):
    if isinstance(result, dict):
        return {name: value.to(dtype) for name, value in result.items()}
    return tuple(value.to(dtype) for value in result)


def returned(result, step):
    return result[step] if isinstance(result, dict) else dict(zip(("output", "weights"), result, strict=True))[step]


@pytest.mark.parametrize("function, code, step, sizes, ours", FAULTS, ids=NAMES)
def test_the_output_alone_is_enough_for_the_cause(function, code, step, sizes, ours):
    if code == "dropout":
        pytest.skip("which weights were dropped is read off the weights")
    q, k, v = qkv(**sizes)
    found = diagnose(lambda q, k, v: returned(function(q, k, v), "output"), q, k, v, **ours)
    assert found.step == "output" and code in [cause.code for cause in found.causes]


def test_the_rate_of_dropout_is_read_off_the_weights_that_are_left():
    q, k, v = qkv()
    (cause,) = diagnose(dropout, q, k, v).causes
    assert (cause.code, cause.values) == ("dropout", {"p": "0.3"})


@pytest.mark.parametrize("queries", [1, 3])
def test_keys_that_were_masked_are_no_dropout(queries):
    q, k, v = drawn(queries, 4), drawn(S, 4, seed=1) * (queries == 1), drawn(S, 3, seed=2)  # else even weights
    real = torch.arange(S) < 4

    def padded(q, k, v):
        weights = softmax(masked(q @ k.mT / 2, real))
        return weights @ v, weights

    assert "dropout" not in [cause.code for cause in diagnose(padded, q, k, v).causes]


@pytest.mark.parametrize("function, code, step, sizes, ours", FAULTS, ids=NAMES)
def test_a_run_that_was_stored_names_the_same_causes(function, code, step, sizes, ours):
    """What comes out of a cache is an equal run, not the same objects."""
    q, k, v = qkv(**sizes)
    trace = attend_qkv(q, k, v, **ours)
    theirs = {step: returned(function(q, k, v), step)}
    stored = pickle.loads(pickle.dumps(trace))  # noqa: S301 our own, just written
    assert [cause.code for cause in find_causes(stored, theirs)] == [cause.code for cause in find_causes(trace, theirs)]


def test_every_cause_that_is_known_is_tried_here():
    tried = {code for _, code, *_ in FAULTS}
    layer = {
        "w_o_transposed",
        "w_o_missing",
        "b_o_missing",
        "half_precision",
        "heads_averaged",
        "rounded",
        "axes_exchanged",
    }
    by_a_learner = {"rows_swapped", "columns_swapped", "transposed", "scale_other", "scale_input_width"}
    by_a_learner |= {f"{role}_from_w_{other}" for role in "qkv" for other in "qkv" if role != other}
    by_a_learner |= {"split_interleaved", "padding_on_queries"}  # tests/exercises/test_slips.py, test_bugs.py
    assert tried | layer | by_a_learner | set(NEW) == set(
        MISTAKE_SENTENCES
    )  # NEW: tests/verification/test_layer_diagnosis.py
    assert set(MISTAKES) <= set(MISTAKE_SENTENCES)


def test_what_stands_beside_a_cause_is_named():
    q, k, v = qkv()
    (cause,) = diagnose(no_scale_and_nan_rows, q, k, v, allowed=HOLE).causes
    assert cause.beside == ("nan_rows",) and "NaN" in str(cause)


def layer(dtype=torch.float64):
    x = drawn(B, T, 6, seed=3, dtype=dtype)
    weights = {f"w_{role}": drawn(6, 6, seed=n, dtype=dtype) for n, role in enumerate("qkvo")}
    weights |= {f"b_{role}": drawn(6, seed=n + 4, dtype=dtype) for n, role in enumerate("qkvo")}
    return x, weights, attend(x, weights=Weights(**weights), config=AttentionConfig(heads=3))


@pytest.mark.parametrize("code", ["w_o_transposed", "w_o_missing", "b_o_missing"])
def test_faults_of_the_output_projection(code):
    _, weights, trace = layer()
    concat, w, b = trace["concat"], weights["w_o"], weights["b_o"]
    wrong = {"w_o_transposed": concat @ w.T + b, "w_o_missing": concat, "b_o_missing": concat @ w}[code]
    assert [cause.code for cause in find_causes(trace, {"concat": concat, "output": wrong})] == [code]


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_numbers_of_a_coarser_precision_are_known(half):
    q, k, v = qkv(dtype=torch.float32)

    def mine(q, k, v):
        return F.scaled_dot_product_attention(q.to(half), k.to(half), v.to(half)).float()

    found = diagnose(mine, q, k, v)
    assert found.step == "head_outputs"
    assert [(cause.code, cause.values["dtype"]) for cause in found.causes] == [
        ("half_precision", str(half).removeprefix("torch."))
    ]


def test_no_cause_is_named_that_does_not_give_the_numbers():
    q, k, v = qkv()
    found = diagnose(lambda q, k, v: mixed(softmax((q @ k.mT * ROOT) ** 3), v), q, k, v)
    assert found.step == "weights" and found.causes == () and "No single change" in str(found)


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("factor", [1.3, 1.5])
def test_in_coarse_numbers_another_factor_is_named_and_no_other_fault(half, factor):
    q, k, v = qkv(dtype=half)

    def mine(q, k, v):
        q, k, v = q.double(), k.double(), v.double()
        return cast(mixed(softmax(q @ k.mT * ROOT * factor), v), half)  # √(D_K / S) = 1.25 is another fault: scale_keys

    found = diagnose(mine, q, k, v)
    (cause,) = found.causes
    assert found.step == "weights" and cause.code == "scale_other"
    assert float(cause.values["factor"]) == pytest.approx(ROOT * factor, rel=0.01)


@pytest.mark.parametrize("factor", [0.05, 0.37, 1.9])
def test_another_factor_is_measured_from_the_output_alone(factor):
    q, k, v = qkv()
    found = diagnose(lambda q, k, v: softmax(q @ k.mT * factor) @ v, q, k, v)
    assert [(cause.code, cause.values) for cause in found.causes] == [("scale_other", {"factor": f"{factor}"})]


def test_no_factor_is_measured_from_two_weights():
    """Whatever two weights are, some factor on their scores gives them."""
    q, k, v = drawn(1, 3), drawn(2, 3, seed=1), drawn(2, 3, seed=2)
    weights = torch.tensor([[0.3, 0.7]]).double()
    found = diagnose(lambda q, k, v: (weights @ v, weights), q, k, v)
    assert found.step == "weights" and found.causes == ()


# ---- right attention -------------------------------------------------------------------------------------------------
def loops(q, k, v, allowed=None):
    """Cell by cell, in the tensors' own precision, running sums included."""
    kept = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool) if allowed is None else allowed[0, 0]
    weights = q.new_zeros(*q.shape[:3], k.shape[-2])
    out = q.new_zeros(*q.shape[:3], v.shape[-1])
    group = q.shape[1] // k.shape[1]
    for b, h, i in torch.cartesian_prod(*(torch.arange(size) for size in q.shape[:3])).tolist():
        keys = kept[i].nonzero().flatten().tolist()
        powers = {}
        for j in keys:
            total = q.new_zeros(())
            for m in range(q.shape[-1]):
                total = total + q[b, h, i, m] * k[b, h // group, j, m]
            powers[j] = total / q.shape[-1] ** 0.5
        top = max(powers.values(), default=None)
        powers = {j: torch.exp(score - top) for j, score in powers.items()}
        whole = sum(powers.values(), q.new_zeros(()))
        for j, power in powers.items():
            weights[b, h, i, j] = power / whole
            out[b, h, i] += weights[b, h, i, j] * v[b, h // group, j]
    return out, weights


def by_torch(q, k, v, attn_mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, enable_gqa=q.shape[1] != k.shape[1])


def scaled_first(q, k, v):
    return mixed(torch.softmax((q * q.shape[-1] ** -0.5) @ k.mT, dim=-1), v)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [loops, by_torch, scaled_first])
@pytest.mark.parametrize("ours", [{}, {"config": CAUSAL}, {"allowed": HOLE}], ids=["all", "causal", "hole"])
def test_a_right_implementation_agrees(function, dtype, ours):
    if function is scaled_first and ours:
        pytest.skip("it knows no mask")
    found = diagnose(function, *qkv(dtype=dtype), **ours)
    assert found.step is None and found.causes == (), str(found)
    assert str(found).startswith("All steps agree")


@pytest.mark.parametrize("dtype", DTYPES[:3])
def test_grouped_keys_agree(dtype):
    for function in (loops, by_torch):
        assert diagnose(function, *qkv(heads=6, kv_heads=2, dtype=dtype)).step is None


@pytest.mark.parametrize("dtype", DTYPES[:3])
def test_torchs_layer_agrees(dtype):
    x, weights, trace = layer(dtype)
    module = torch.nn.MultiheadAttention(6, 3, batch_first=True, dtype=dtype)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([weights[f"w_{role}"].T for role in "qkv"]))
        module.in_proj_bias.copy_(torch.cat([weights[f"b_{role}"] for role in "qkv"]))
        module.out_proj.weight.copy_(weights["w_o"].T)
        module.out_proj.bias.copy_(weights["b_o"])
        output, attention = module(x, x, x, average_attn_weights=False)
        averaged = module(x, x, x)[1]
    assert first_difference(trace, {"output": output, "weights": attention}).step is None
    assert first_difference(trace, {"weights": averaged}).first.fits is False


sizes = st.integers(1, 6)


@settings(max_examples=60)
@given(sizes, sizes, st.integers(1, 33), sizes, st.sampled_from(DTYPES), st.integers(0, 9999), st.sampled_from([1, 4]))
def test_right_but_rounded_is_no_alarm(queries, keys, width, value_width, dtype, seed, size):
    shapes = (1, 2, queries, width), (1, 2, keys, width), (1, 2, keys, value_width)
    q, k, v = (drawn(*shape, seed=seed + n, dtype=dtype) for n, shape in enumerate(shapes))
    q = q * size
    for function in (loops, by_torch):
        found = diagnose(function, q, k, v)
        assert found.step is None, str(found)
    scores = q @ k.mT
    weights = torch.softmax(scores.float() * width**-0.5, dim=-1).to(dtype)
    if dtype != torch.float64:
        assert first_difference(attend_qkv(q, k, v), {"scores": scores, "weights": weights}).step is None


def test_a_fault_is_looked_for_in_every_branch_that_nobody_checked():
    """Right weights, wrong outputs: the values may be wrong as well, and they stand before the weights."""
    x, weights, trace = layer()
    values = x @ weights["w_v"]  # without its bias
    wrong = trace["weights"] @ values.view(B, T, 3, 2).transpose(1, 2)
    given = {"q": trace["q"], "weights": trace["weights"], "head_outputs": wrong}
    found = first_difference(trace, given)
    assert found.first.among == ("v_projected", "v", "head_outputs")
    assert "The fault lies in v_projected, v or head_outputs." in str(found)
    alone = first_difference(trace, {**given, "v": trace["v"]})
    assert alone.first.among == ("head_outputs",) and "The fault lies in head_outputs." in str(alone)


def test_each_step_that_may_hold_the_fault_is_named_as_a_whole():
    """The step that differs is called q, and so do the names of two before it begin."""
    x, weights, _ = layer()
    trace = attend(x, weights=Weights(**weights), config=AttentionConfig(heads=3, positions=["rope"]))
    found = first_difference(trace, {"x": x, "q": trace["q"] + 1})
    assert found.first.among == ("q_projected", "q_heads", "q")
    assert "The fault lies in q_projected, q_heads or q." in str(found)


def test_what_agrees_behind_the_first_difference_does_not_stand_before_it():
    trace = attend_qkv(*qkv())
    shifted = trace["scores"] + 1  # the softmax takes it away again
    given = {"q": trace["q"], "scores": shifted, "weights": trace["weights"]}
    found = first_difference(trace, given)
    assert found.before == ("q",) and set(found.agreeing) == {"q", "weights"}


def test_a_cause_of_some_steps_is_not_said_to_be_that_of_all():
    q, k, v = qkv()
    found = diagnose(lambda q, k, v: (1.01 * no_scale(q, k, v)[0], no_scale(q, k, v)[1]), q, k, v)
    assert [cause.steps for cause in found.causes] == [("weights",)]
    assert "The numbers of weights are those of: no scale" in str(found)
    assert "The numbers are those of: no scale" in str(diagnose(no_scale, q, k, v))


# ---- how precise somebody's numbers are ------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ours", [{}, {"allowed": HOLE}], ids=["all", "hole"])
def test_the_precision_is_read_off_the_numbers(dtype, ours):
    trace = attend_qkv(*qkv(), **ours)
    weights = torch.softmax(trace["masked_scores"], -1).to(dtype).double()  # NaN where a query may attend to nothing
    assert infer_precision(trace, {"weights": weights}) == dtype
    found = first_difference(trace, {"weights": weights}, dtype)
    assert [cause.code for cause in find_causes(trace, {"weights": weights}, dtype)] == (["nan_rows"] if ours else [])
    assert (found.step is None) == (not ours)


def test_numbers_that_every_precision_holds_tell_of_none():
    q, k = torch.tensor([[3.0, 1], [2, 5], [7, 0]]).double(), torch.tensor([[4.0, 2], [9, 1], [6, 8]]).double()
    trace = attend_qkv(q, k, k)
    slipped = trace["scores"] + torch.tensor([0.0, 1, 0]).double() * torch.tensor([[0.0], [1], [0]]).double()
    assert infer_precision(trace, {"scores": slipped}) == torch.float64
    found = first_difference(trace, {"scores": slipped}, infer_precision(trace, {"scores": slipped}))
    assert found.first.index == (0, 0, 1, 1) and (found.first.ours, found.first.theirs) == (23, 24)  # 2 x 9 + 5 x 1
    assert find_causes(trace, {"scores": slipped}) == ()  # not rounding: 23 is a bfloat16 number


def test_a_run_forgives_what_its_own_precision_rounds():
    q, k, v = qkv()
    exact = attend_qkv(q, k, v)["weights"]
    trace = attend_qkv(q.bfloat16(), k.bfloat16(), v.bfloat16())
    assert infer_precision(trace, {"weights": exact}) == torch.bfloat16
    assert first_difference(trace, {"weights": exact}, torch.bfloat16).step is None


# ---- one cell --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("step", ["scores", "scaled_scores", "weights", "head_outputs", "concat", "output"])
def test_one_wrong_cell_is_found_at_its_index(step, dtype):
    trace = attend_qkv(*qkv(dtype=dtype))
    value = trace[step].clone()
    index = tuple(size // 2 for size in value.shape)
    value[index] += 1e-3
    found = first_difference(trace, {step: value})
    assert (found.step, found.first.index, found.first.first) == (step, index, index)
    assert found.first.difference == pytest.approx(1e-3 / trace[step].abs().max().item(), rel=1e-2)
    assert found.first.theirs - found.first.ours == pytest.approx(1e-3, rel=1e-2)
    assert find_causes(trace, {step: value}) == ()


def test_a_step_that_only_inherits_an_error_is_told_from_one_that_makes_its_own():
    trace = attend_qkv(*qkv())
    scores = trace["scores"].clone()
    scores[0, 1, 2, 3] += 1
    inherited = torch.softmax(scores * ROOT, dim=-1)
    found = first_difference(trace, {"scores": scores, "weights": inherited})
    assert found.step == "scores" and found.comparisons[1].follows is True and not found.comparisons[1].agrees
    assert "Right from your own steps before: weights" in str(found)
    own = inherited.clone()
    own[1, 0, 0, 0] += 0.1
    assert first_difference(trace, {"scores": scores, "weights": own}).comparisons[1].follows is False
    found = first_difference(trace, {"scores": trace["scores"], "weights": own})
    assert found.first.follows is False and found.first.among == ("scaled_scores", "masked_scores", "weights")
    assert "The fault lies in scaled_scores, masked_scores or weights." in str(found)
    assert first_difference(trace, {"weights": own}).first.follows is None


def test_nothing_but_the_places_of_infinities_differs():
    trace = attend_qkv(*qkv(), config=CAUSAL)
    moved = trace["masked_scores"].clone()
    moved[0, 0, 0, -1] = 3.0
    found = first_difference(trace, {"masked_scores": moved})
    assert (
        found.step == "masked_scores" and found.first.index == (0, 0, 0, S - 1) and found.first.difference == torch.inf
    )
    broken = trace["weights"].clone()
    broken[1, 2, 3, 4] = torch.nan
    assert first_difference(trace, {"weights": broken}).first.index == (1, 2, 3, 4)


@pytest.mark.parametrize("value", [-1e9, -1e4, torch.finfo(torch.float64).min])
def test_a_large_negative_number_in_the_place_of_minus_infinity_is_named_and_agrees(value):
    trace = attend_qkv(*qkv(), config=CAUSAL)
    theirs = trace["masked_scores"].masked_fill(~trace["allowed"], value)
    found = first_difference(trace, {"masked_scores": theirs})
    assert found.step is None and found.comparisons[0].stand_ins == B * H * int((~lower_right()).sum())
    assert "large negative number" in str(found)
    weak = trace["masked_scores"].masked_fill(~trace["allowed"], -20.0)
    assert first_difference(trace, {"masked_scores": weak}).step == "masked_scores"


def test_a_tolerance_of_ones_own():
    trace = attend_qkv(*qkv())
    off = trace["weights"] * 1.01
    assert first_difference(trace, {"weights": off}).step == "weights"
    assert first_difference(trace, {"weights": off}, tolerance=0.02).step is None
    assert first_difference(trace, {"weights": trace["weights"].bfloat16().double()}, torch.bfloat16).step is None


# ---- shapes ----------------------------------------------------------------------------------------------------------
def test_a_shape_that_does_not_fit_is_named_with_its_axes():
    trace = attend_qkv(*qkv())
    found = first_difference(trace, {"head_outputs": trace["head_outputs"].transpose(1, 2)})
    assert found.step == "head_outputs" and found.first.fits_as == ("B", "T", "H", "d_v")
    assert "must be (B, H, T, d_v) = (2, 3, 5, 13): yours is (2, 5, 3, 13), which is (B, T, H, d_v)" in str(found)
    assert first_difference(trace, {"weights": trace["weights"][..., 1:]}).first.fits_as is None


def test_layouts_are_told_or_said_to_be_ambiguous():
    q, k, v = qkv()
    assert infer_layout(q, k, v).fits == ("B H T d",)  # 5 heads of 7 could not be
    turned_tensors = [x.transpose(1, 2) for x in (q, k, v)]
    assert infer_layout(*turned_tensors).fits == ("B T H d",)
    assert all(torch.equal(infer_layout(*turned_tensors).arrange(x.transpose(1, 2)), x) for x in (q, k, v))
    q, k, v = qkv(keys=T)
    both = infer_layout(q, k, v)
    assert both.ambiguous and both.axes == "B H T d"
    assert infer_layout(q, k, v, heads=H).fits == ("B H T d",)
    assert infer_layout(q, k, v, heads=T).fits == ("B T H d",)
    assert infer_layout(q, k, v, weights=torch.zeros(B, H, T, T)).fits == ("B H T d",)
    assert infer_layout(q, k, v, weights=torch.zeros(B, T, H, H)).fits == ("B T H d",)
    q, k, v = qkv(heads=6, kv_heads=2)
    assert infer_layout(q, k, v).fits == ("B H T d",)
    assert infer_layout(drawn(5, 3), drawn(7, 3), drawn(7, 2)).axes == "T d"


def test_layouts_that_cannot_be_are_refused():
    for tensors, code in (
        ((drawn(2, 5, 3),) * 3, "rank_qkv"),
        ((drawn(3),) * 3, "rank"),
        ((drawn(2, 3, 5, 7), drawn(2, 2, 4, 7), drawn(2, 2, 4, 7)), "layout_unknown"),
    ):
        with pytest.raises(AttentionError) as refused:
            infer_layout(*tensors)
        assert refused.value.code == code
    with pytest.raises(AttentionError):
        arrange_axes(drawn(2, 3), "B T d")
    with pytest.raises(AttentionError):
        arrange_axes(drawn(2, 3), "T B")
    shapes = {"B H T d": (2, 3, 5, 7), "B T H d": (2, 5, 3, 7), "B T d": (2, 5, 7), "H T d": (3, 5, 7), "T d": (5, 7)}
    arranged = {axes: tuple(arrange_axes(drawn(*shapes[axes]), axes).shape) for axes in TENSOR_LAYOUTS}
    assert arranged == {
        "B H T d": (2, 3, 5, 7),
        "B T H d": (2, 3, 5, 7),
        "B T d": (2, 1, 5, 7),
        "H T d": (1, 3, 5, 7),
        "T d": (1, 1, 5, 7),
    }


# ---- the function ----------------------------------------------------------------------------------------------------
def test_the_function_gets_what_was_given_in_its_layout():
    q, k, v = qkv()
    seen = []

    def mine(q, k, v):
        seen.append(tuple(q.shape))
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return by_torch(q, k, v).transpose(1, 2)

    assert diagnose(mine, *(x.transpose(1, 2) for x in (q, k, v)), heads_first=False).step is None
    assert seen == [(B, T, H, D_K)]


@pytest.mark.parametrize("name", ["attn_mask", "mask", "allowed"])
def test_the_function_gets_the_mask_by_its_name(name):
    scope = {"F": F}
    exec(f"def mine(q, k, v, *, {name}): return F.scaled_dot_product_attention(q, k, v, attn_mask={name})", scope)
    assert diagnose(scope["mine"], *qkv(), config=CAUSAL).step is None
    assert diagnose(scope["mine"], *qkv()).step is None
    assert diagnose(scope["mine"], drawn(5, 3), drawn(7, 3), drawn(7, 2), config=CAUSAL).step is None


def test_a_module_is_a_function_too():
    class Mine(torch.nn.Module):
        def forward(self, q, k, v, attn_mask=None):
            return by_torch(q, k, v, attn_mask)

    assert diagnose(Mine(), *qkv(), config=CAUSAL).step is None


def test_a_function_may_write_into_its_arguments():
    def mine(q, k, v):
        q *= D_K**-0.5
        return mixed(torch.softmax(q @ k.mT, dim=-1), v)

    assert diagnose(mine, *qkv()).step is None


def test_a_function_may_name_its_steps_and_learn_weights():
    q, k, v = (x.requires_grad_() for x in qkv())
    w_o = drawn(H * D_V, 4)

    def mine(q, k, v):
        scores = q @ k.mT
        output, weights = mixed(softmax(scores * ROOT), v)
        return {"scores": scores, "weights": weights, "concat": output, "output": output @ w_o}

    found = diagnose(mine, q, k, v, weights=Weights(w_o=w_o))
    assert list(found.agreeing) == ["scores", "weights", "concat", "output"]
    assert max(found.agreeing.values()) < 1e-14


def test_what_the_function_raises_is_passed_on_and_what_it_cannot_return_is_refused():
    q, k, v = qkv()

    def fails(q, k, v):
        raise ZeroDivisionError("their own")

    with pytest.raises(ZeroDivisionError, match="their own"):
        diagnose(fails, q, k, v)
    for result, code in (
        (None, "returned"),
        ((q, k, v), "returned"),
        ({}, "nothing_given"),
        ({"probabilities": q}, "unknown_choice"),
        ({"weights": [1.0]}, "not_a_tensor"),
        ({"weights": torch.ones(B, H, T, S, dtype=torch.int64)}, "not_floating"),
    ):
        with pytest.raises(AttentionError) as refused:
            diagnose(lambda q, k, v, result=result: result, q, k, v)
        assert refused.value.code == code
    with pytest.raises(AttentionError, match="q must be a torch"):
        diagnose(no_scale, [[1.0]], k, v)
    with pytest.raises(AttentionError, match="weights, head_outputs, concat, output"):
        diagnose(lambda q, k, v: {"probabilities": q}, q, k, v)


def test_a_diagnosis_is_plain_data():
    found = diagnose(no_scale, *qkv())
    assert str(pickle.loads(pickle.dumps(found))) == str(found)  # noqa: S301 our own, just written


# ---- scores that float16 cannot hold ---------------------------------------------------------------------------------
def test_scores_beyond_float16_are_red(generator):
    """torch's own attention in float16 is finite and right; the run, whose scores are not scaled yet, is not."""
    h = (30 * torch.randn(1, 1, 4, 128, generator=generator)).half()
    assert F.scaled_dot_product_attention(h, h, h).isfinite().all()
    trace = attend_qkv(h, h, h)
    proof = prove(trace)
    assert not trace["output"].isfinite().all() and (proof.failed.step, proof.failed.witness) == ("scores", "held")
    found = diagnose(F.scaled_dot_product_attention, h, h, h)
    assert found.lost == "scores" and "All steps agree" not in str(found) and "it cannot hold scores" in str(found)
    for dtype in (torch.bfloat16, torch.float32):
        assert prove(attend_qkv(*[h.to(dtype)] * 3)).passed
        assert diagnose(F.scaled_dot_product_attention, *[h.to(dtype)] * 3).lost is None


# ---- weights averaged over the heads ---------------------------------------------------------------------------------
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_weights_that_are_averaged_over_the_heads_are_named(batch, dtype):
    """As torch.nn.MultiheadAttention gives them by default."""
    q, k, v = (drawn(batch, 3, 5, 4, seed=seed).to(dtype) for seed in range(3))

    def averaged(q, k, v):
        weights = softmax(q @ k.mT / 2)
        mean = weights.mean(1)
        return (weights @ v).transpose(1, 2).flatten(2), mean if batch > 1 else mean[0]

    found = diagnose(averaged, q, k, v)
    assert [(cause.code, cause.steps) for cause in found.causes] == [("heads_averaged", ("weights",))]
    assert "yours is (2, 5, 5)" in str(found) if batch > 1 else "yours is (5, 5)" in str(found)
    assert "The numbers of weights are those of: the weights are averaged over the heads" in str(found)


def test_other_numbers_of_that_shape_are_no_average():
    q, k, v = (drawn(2, 3, 5, 4, seed=seed) for seed in range(3))
    found = diagnose(lambda q, k, v: (softmax(q @ k.mT / 2) @ v, softmax(q @ k.mT / 2)[:, 0]), q, k, v)
    assert found.causes == () and not found.first.fits
