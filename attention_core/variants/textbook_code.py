"""A layer of many heads in one function, as one meets it elsewhere, and how a head count changes unseen."""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def multi_head(
    x: Float[Tensor, "B T D"],
    w_q: Float[Tensor, "D H*d_k"],
    w_k: Float[Tensor, "D H*d_k"],
    w_v: Float[Tensor, "D H*d_v"],
    w_o: Float[Tensor, "H*d_v D_out"],
    *,
    heads: int,
) -> Float[Tensor, "B T D_out"]:
    """Self-attention from x to the output, as a run without masks, positions and biases computes it."""
    B, T, _ = x.shape
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # linear: (B, T, H * d_k), likewise k; v is (B, T, H * d_v)
    q = q.view(B, T, heads, -1)  # (B, T, H, d_k): the same numbers, read with one axis more
    q = q.transpose(1, 2)  # (B, H, T, d_k): the heads stand before the tokens; no number moves
    k = k.view(B, T, heads, -1).transpose(1, 2)  # (B, H, S, d_k)
    v = v.view(B, T, heads, -1).transpose(1, 2)  # (B, H, S, d_v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    z = torch.softmax(scores, dim=-1) @ v  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)
    z = z.transpose(1, 2)  # (B, T, H, d_v)
    z = z.contiguous()  # copied in this order: a view cannot join axes that lie apart
    z = z.view(B, T, -1)  # (B, T, H * d_v)
    return z @ w_o  # (B, T, D_out)


def split_by_eighth(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T d_k"]:
    """Heads as wide as an eighth of x."""
    B, T, D = x.shape
    d_k = D // 8  # meant for 8 heads; rounded down, to 0 where D is less than 8
    return x.view(B, T, -1, d_k).transpose(1, 2)  # (B, T, D / d_k, d_k) -> (B, H, T, d_k)


def eighth_of(width: int) -> int:
    """How wide `split_by_eighth` makes a head.

    >>> eighth_of(20), eighth_of(4)
    (2, 0)
    """
    return width // 8


def heads_by_eighth(width: int) -> tuple[int, int] | None:
    """How many heads `split_by_eighth` makes of a width, and how wide each is; None where torch refuses.

    Eight only where 8 divides the width: else d_k is rounded down, and -1 makes as many heads as there is room for.

    >>> [heads_by_eighth(width) for width in (16, 12, 18, 20, 25)]
    [(8, 2), (12, 1), (9, 2), (10, 2), None]
    """
    try:
        split = split_by_eighth(torch.zeros(1, 1, width))
    except RuntimeError:
        return None
    return split.shape[1], split.shape[-1]
