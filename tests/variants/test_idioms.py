"""Other people's code for the same steps, against our operations, bit for bit: the same numbers, or the error.

Each takes the operands of the operation that it equals, by the same names; IDIOMS names them all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core import AttentionConfig, attend_qkv
from attention_core.explanation.traced_source import function_listing
from attention_core.mechanism.masks import causal_mask
from attention_core.mechanism.normalisers import masked_softmax
from attention_core.mechanism.operations import mask_scores, merge_heads, split_heads
from tests.house.test_house import every_face


# ---- mask: by filling, by adding -------------------------------------------------------------------------------------
def fill_blocked(scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"]) -> Float[Tensor, "B H T S"]:
    return scores.masked_fill(~allowed, float("-inf"))  # fills where its mask is True: that is what is blocked


def add_bias(scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"]) -> Float[Tensor, "B H T S"]:
    bias = torch.zeros(allowed.shape, dtype=scores.dtype, device=scores.device)
    bias = bias.masked_fill(~allowed, float("-inf"))  # 0 where allowed, -inf where blocked
    return scores + bias


# ---- causal mask: a lower triangle -----------------------------------------------------------------------------------
def lower_triangle(scores: Float[Tensor, "B H T S"], *, query_offset: int) -> Bool[Tensor, "1 1 T S"]:
    T, S = scores.shape[-2:]
    allowed = torch.tril(torch.ones(T, S, dtype=torch.bool, device=scores.device), diagonal=query_offset)  # (T, S)
    return allowed.unsqueeze(0).unsqueeze(0)  # (1, 1, T, S)


# ---- split: the axes in another order at once ------------------------------------------------------------------------
def split_by_permute(x: Float[Tensor, "B T width"], *, heads: int) -> Float[Tensor, "B H T d"]:
    B, T, width = x.shape
    x = x.view(B, T, heads, width // heads)  # (B, T, H, d)
    return x.permute(0, 2, 1, 3)  # (B, H, T, d)


# ---- merge: copied into the new order, then seen as rows -------------------------------------------------------------
def merge_by_view(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
    B, H, T, d_v = x.shape
    x = x.transpose(1, 2).contiguous()  # (B, T, H, d_v), copied so that its numbers lie in this order
    return x.view(B, T, H * d_v)  # (B, T, H * d_v)


def merge_by_view_alone(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
    B, H, T, d_v = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_v), its numbers still in the order of (B, H, T, d_v)
    return x.view(B, T, H * d_v)  # refused where head follows head in memory


# ---- softmax written out: the same for any number subtracted from a row, and without overflow for the largest --------
def softmax_written_out(masked_scores: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S"]:
    largest = masked_scores.amax(dim=-1, keepdim=True)  # (B, H, T, 1); -inf in a row where nothing is allowed
    powers = torch.exp(masked_scores - largest)  # at most exp(0) = 1; -inf - (-inf) is NaN
    return powers / powers.sum(dim=-1, keepdim=True)  # over S


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Idiom:
    """Other ways to write an operation: the name of its torch function, and theirs."""

    equals: str
    functions: tuple[Callable[..., Tensor], ...]


IDIOMS = {
    "mask": Idiom("mask_scores", (fill_blocked, add_bias)),
    "causal": Idiom("causal_mask", (lower_triangle,)),
    "split": Idiom("split_heads", (split_by_permute,)),
    "merge": Idiom("merge_heads", (merge_by_view, merge_by_view_alone)),
    "softmax": Idiom("masked_softmax", (softmax_written_out,)),
}


# ---- against our own -------------------------------------------------------------------------------------------------
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
REFUSED = "view size is not compatible with input tensor's size and stride"


def drawn(generator, *shape, dtype=torch.float64):
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def same_bits(left, right):
    """Equal in shape, precision and every bit; a minus zero is no zero."""
    return left.dtype == right.dtype and torch.equal(left, right) and torch.equal(left.signbit(), right.signbit())


def test_every_idiom_equals_an_operation_and_takes_its_operands():
    ours = {function.__name__: function for *_, kind, function in every_face() if kind == "torch"}
    for idiom in IDIOMS.values():
        code = ours[idiom.equals].__code__
        for function in idiom.functions:
            names = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
            assert names == code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            assert function.__closure__ is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", [(5, 7), (1, 1, 5, 7), (2, 1, 1, 7), (2, 3, 5, 7)])
@pytest.mark.parametrize("masked", [fill_blocked, add_bias])
def test_masks_by_filling_and_by_adding(generator, masked, mask, dtype):
    scores = drawn(generator, 2, 3, 5, 7, dtype=dtype)
    allowed = torch.rand(mask, generator=generator) < 0.6
    allowed[..., 0, :1] = False
    found = masked(scores, allowed)
    assert same_bits(found, mask_scores(scores, allowed))
    assert found[0, 0, 0, 0] == -torch.inf and found.isfinite().any()


@pytest.mark.parametrize("T, S, query_offset", [(5, 7, 2), (7, 5, -2), (5, 5, 0), (5, 7, 0), (3, 11, 4)])
def test_a_lower_triangle_is_the_causal_mask(generator, T, S, query_offset):
    scores = drawn(generator, 2, 3, T, S)
    allowed = lower_triangle(scores, query_offset=query_offset)
    assert allowed.shape == (1, 1, T, S) and torch.equal(allowed, causal_mask(scores, query_offset=query_offset))
    assert allowed.tolist() == [[[[j <= i + query_offset for j in range(S)] for i in range(T)]]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("heads", [1, 3])
def test_split_and_merge(generator, heads, dtype):
    x = drawn(generator, 2, 5, 7 * heads, dtype=dtype)
    split = split_by_permute(x, heads=heads)
    assert same_bits(split, split_heads(x, heads=heads)) and split.stride() == split_heads(x, heads=heads).stride()
    copied = drawn(generator, 2, heads, 5, 11, dtype=dtype)
    for parts in (split, copied):
        merged = merge_by_view(parts)
        assert same_bits(merged, merge_heads(parts)) and merged.is_contiguous()
    assert torch.equal(merge_by_view(split), x)


def test_a_view_alone_is_refused_where_heads_do_not_lie_beside_each_other(generator):
    mixed = drawn(generator, 2, 3, 5, 11)
    with pytest.raises(RuntimeError, match=REFUSED):
        merge_by_view_alone(mixed)
    last = function_listing(merge_by_view_alone, {"x": mixed}).splitlines()[-1]
    assert last.startswith(f"    #   x.view(B, T, H * d_v): RuntimeError: {REFUSED}")
    one_head, one_query = drawn(generator, 2, 1, 5, 11), drawn(generator, 2, 3, 1, 11)
    never_copied = split_heads(drawn(generator, 2, 5, 33), heads=3)  # its numbers lie as they did before the split
    for x in (one_head, one_query, never_copied):
        assert same_bits(merge_by_view_alone(x), merge_heads(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_softmax_written_out(generator, dtype, scale):
    scores = drawn(generator, 2, 3, 5, 7, dtype=dtype) * scale
    scores[:, :, 1, 2:] = -torch.inf
    found = softmax_written_out(scores)
    assert found.dtype == dtype and (found[:, :, 1, 2:] == 0).all()
    tolerance = 4 * torch.finfo(dtype).eps  # the sum may be rounded in another order
    torch.testing.assert_close(found, masked_softmax(scores), rtol=tolerance, atol=tolerance)


def test_softmax_written_out_has_no_answer_for_a_row_where_nothing_is_allowed(generator):
    scores = drawn(generator, 1, 2, 3, 5)
    scores[0, 1, 2] = -torch.inf
    assert softmax_written_out(scores)[0, 1, 2].isnan().all() and softmax_written_out(scores).isnan().sum() == 5
    assert (masked_softmax(scores)[0, 1, 2] == 0).all()


def test_every_idiom_is_listed_on_the_operands_of_a_run(generator):
    q, k, v = (drawn(generator, 2, 3, *size) for size in ((5, 13), (7, 13), (7, 11)))
    trace = attend_qkv(q, k, v, config=AttentionConfig(masks=["causal"]))
    params = trace.step("allowed").operation.params
    operands = {
        "mask": ({"scores": trace["scaled_scores"], "allowed": trace["allowed"]}, {}, trace["masked_scores"]),
        "causal": ({"scores": trace["scores"]}, params, trace["allowed"]),
        "split": ({"x": drawn(generator, 2, 5, 39)}, {"heads": 3}, q),
        "merge": ({"x": trace["head_outputs"]}, {}, trace["concat"]),
        "softmax": ({"masked_scores": trace["masked_scores"]}, {}, trace["weights"]),
    }
    assert set(operands) == set(IDIOMS)
    for name, (given, params, made) in operands.items():
        for function in IDIOMS[name].functions:
            last = function_listing(function, given, params).splitlines()[-1]
            refused = function is merge_by_view_alone
            assert f": {'RuntimeError' if refused else tuple(made.shape)}" in last, last
