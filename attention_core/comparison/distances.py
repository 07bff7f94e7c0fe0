"""How far two computations of a step lie apart, infinities and masked cells included."""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import is_finite


def subtract(theirs: Tensor, ours: Tensor) -> Tensor:
    """theirs - ours of every cell in float64; 0 where both are the same infinity or no number.

    >>> subtract(torch.tensor([1.0, torch.inf, -torch.inf]), torch.tensor([1.5, torch.inf, 0.0]))
    tensor([-0.5000,  0.0000,    -inf], dtype=torch.float64)
    """
    theirs, ours = theirs.double(), ours.double()
    signed = theirs - ours
    if is_finite(signed):
        return signed
    return signed.masked_fill((theirs == ours) | (theirs.isnan() & ours.isnan()), 0.0)


def abs_difference(theirs: Tensor, ours: Tensor) -> Tensor:
    """|theirs - ours| of every cell in float64; infinite where only one is finite, 0 where both are the same.

    >>> abs_difference(torch.tensor([1.0, torch.inf, torch.nan]), torch.tensor([1.5, torch.inf, 0.0]))
    tensor([0.5000, 0.0000,    inf], dtype=torch.float64)
    """
    return subtract(theirs, ours).abs().nan_to_num(nan=torch.inf, posinf=torch.inf)


def largest_magnitude(values: Tensor) -> float:
    """The largest finite magnitude, 1 where there is none or it is 0: what differences are measured against."""
    finite = values.double()[values.isfinite()]
    return finite.abs().max().item() or 1.0 if finite.numel() else 1.0


# ---- minus infinity, and what people write in its place --------------------------------------------------------------
LARGE_NEGATIVE_FILL = (
    -1e9
)  # what most code fills in; others take -1e4 in half precision, or the smallest number that there is


def is_large_negative_fill(theirs: Tensor, ours: Tensor) -> Tensor:
    """Where masked scores hold a large negative number in the place of our -inf, and their softmax makes 0 of it.

    A row of nothing but such numbers is no such place: its softmax is even, not 0.

    >>> ours = torch.tensor([[1.0, -torch.inf], [-torch.inf, -torch.inf]])
    >>> is_large_negative_fill(torch.tensor([[1.0, -1e9], [-1e9, -1e9]]), ours)
    tensor([[False,  True],
            [False, False]])
    """
    return ours.isneginf() & theirs.isfinite() & (torch.softmax(theirs, dim=-1) == 0)


def masked_score_difference(theirs: Tensor, ours: Tensor) -> Tensor:
    """`apart` for masked scores: one large negative number is as good as another where the softmax makes 0 of both."""
    both_large = theirs.isfinite() & (theirs <= -1e4) & (ours <= LARGE_NEGATIVE_FILL / 2)
    return abs_difference(theirs, ours).masked_fill(
        is_large_negative_fill(theirs, ours) | (both_large & ours.isfinite()), 0.0
    )


def step_difference(name: str, theirs: Tensor, ours: Tensor) -> Tensor:
    """`apart`, for masked scores by what the softmax makes of them."""
    return masked_score_difference(theirs, ours) if name == "masked_scores" else abs_difference(theirs, ours)


def total_variation(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""$\tfrac12 \sum_s |p_s - q_s|$: how much of a whole has moved.

    0 where both are the same, 1 where they share nothing. Two rows that are blocked, all 0, are the same.

    p, q: shares along the last axis. Source: Levin, Peres, Wilmer 2009, Markov Chains and Mixing Times, section 4.1.

    >>> total_variation(torch.tensor([0.7, 0.3]), torch.tensor([0.2, 0.8]))
    tensor(0.5000)
    """
    return (p - q).abs().sum(-1) / 2


def kl_divergence(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""$\sum_s p_s \ln (p_s / q_s) - p_s + q_s$, in nats: what expecting q costs where p is so (Kullback-Leibler).

    0 ln 0 is 0. Infinite where q has 0 and p has not. Rows that sum to 1 make the last two terms vanish; of others,
    which somebody chose or a mask blocked, they keep the sum from falling below 0. Two rows that are blocked, all 0,
    give 0.

    p, q: shares along the last axis. Sources: Kullback, Leibler 1951, On Information and Sufficiency; for rows that do
    not sum to 1, Csiszár 1991, Why Least Squares and Maximum Entropy?

    >>> kl_divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5]))  # ln 2
    tensor(0.6931)
    >>> kl_divergence(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]))
    tensor(inf)
    """
    return (torch.xlogy(p, p) - torch.xlogy(p, q) - p + q).sum(-1).clamp(min=0.0)
