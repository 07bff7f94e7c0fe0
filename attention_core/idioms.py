"""The same step as one meets it in other people's code, each a small function of its own beside ours.

Each takes the operands of the operation that it equals, by the same names. IDIOMS names them all; listing_of() shows
what their lines make.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


# ---- mask: by filling, by adding -------------------------------------------------------------------------------------
def fill_blocked(scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"]) -> Float[Tensor, "B H T S"]:
    return scores.masked_fill(~allowed, float("-inf"))  # fills where its mask is True: that is what is blocked


def add_bias(scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"]) -> Float[Tensor, "B H T S"]:
    bias = torch.zeros(allowed.shape, dtype=scores.dtype, device=scores.device)
    bias = bias.masked_fill(~allowed, float("-inf"))  # 0 where allowed, -inf where blocked
    return scores + bias


# ---- causal mask: a lower triangle -----------------------------------------------------------------------------------
def lower_triangle(scores: Float[Tensor, "B H T S"], *, at: int) -> Bool[Tensor, "1 1 T S"]:
    T, S = scores.shape[-2:]
    allowed = torch.tril(torch.ones(T, S, dtype=torch.bool, device=scores.device), diagonal=at)  # (T, S)
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
