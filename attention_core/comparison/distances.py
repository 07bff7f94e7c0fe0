"""Computes distances between two computations of the same step, with rules for infinities, NaN and masked cells.

Of the arguments, `ours` is the run of this package, `theirs` the numbers of a user.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import all_finite


def subtract(theirs: Tensor, ours: Tensor) -> Tensor:
    """Compute theirs - ours for every cell in float64; 0 if both are the same infinity or both are NaN.

    >>> subtract(torch.tensor([1.0, torch.inf, -torch.inf]), torch.tensor([1.5, torch.inf, 0.0]))
    tensor([-0.5000,  0.0000,    -inf], dtype=torch.float64)
    """
    theirs = theirs.double()
    ours = ours.double()
    signed = theirs - ours
    if all_finite(signed):
        return signed
    both_nan = theirs.isnan() & ours.isnan()
    same = (theirs == ours) | both_nan
    return signed.masked_fill(same, 0.0)


def abs_difference(theirs: Tensor, ours: Tensor) -> Tensor:
    """Compute |theirs - ours| for every cell in float64; infinite if only one number is finite, 0 if both are equal.

    >>> abs_difference(torch.tensor([1.0, torch.inf, torch.nan]), torch.tensor([1.5, torch.inf, 0.0]))
    tensor([0.5000, 0.0000,    inf], dtype=torch.float64)
    """
    return subtract(theirs, ours).abs().nan_to_num(nan=torch.inf, posinf=torch.inf)


def largest_magnitude(values: Tensor) -> float:
    """Return the largest finite magnitude in a tensor, which is the unit of relative differences.

    Returns 1 if no number is finite, or if all finite numbers are 0.
    """
    finite = values.double()[values.isfinite()]
    if finite.numel() == 0:
        return 1.0
    largest = finite.abs().max().item()
    return largest or 1.0


# ---- minus infinity, and what other code fills in instead ------------------------------------------------------------
# Usual number in place of -inf; some code uses -1e4, or the lowest number of the precision.
LARGE_NEGATIVE_FILL = -1e9


def is_large_negative_fill(theirs: Tensor, ours: Tensor) -> Tensor:
    """Return a boolean tensor that is True where a masked score is a large negative number instead of -inf, with weight
    0 in the softmax.

    A row that has only such numbers is not marked, because its softmax is uniform and not 0.

    >>> ours = torch.tensor([[1.0, -torch.inf], [-torch.inf, -torch.inf]])
    >>> is_large_negative_fill(torch.tensor([[1.0, -1e9], [-1e9, -1e9]]), ours)
    tensor([[False,  True],
            [False, False]])
    """
    weighs_nothing = torch.softmax(theirs, dim=-1) == 0
    return ours.isneginf() & theirs.isfinite() & weighs_nothing


def masked_score_difference(theirs: Tensor, ours: Tensor) -> Tensor:
    """Compute abs_difference of masked scores; large negative numbers count as equal to each other and to -inf.

    In the softmax, all of these scores have weight 0.
    """
    their_fill = theirs.isfinite() & (theirs <= -1e4)
    our_fill = ours.isfinite() & (ours <= LARGE_NEGATIVE_FILL / 2)
    both_fill = their_fill & our_fill
    same = both_fill | is_large_negative_fill(theirs, ours)
    difference = abs_difference(theirs, ours)
    return difference.masked_fill(same, 0.0)


def step_difference(name: str, theirs: Tensor, ours: Tensor) -> Tensor:
    """Compute the absolute difference of a step for every cell; in masked scores, large negative numbers equal -inf."""
    if name == "masked_scores":
        return masked_score_difference(theirs, ours)
    return abs_difference(theirs, ours)


# ---- two rows of shares ----------------------------------------------------------------------------------------------
def total_variation(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""Compute $\tfrac12 \sum_s |p_s - q_s|$, the total variation distance of two distributions.

    The result is 0 if both rows are the same, 1 if no key has weight in both, and 0 for two rows of zeros.

    p, q: weights along the last axis. Source: Levin, Peres, Wilmer 2009, Markov Chains and Mixing Times, section 4.1.

    >>> total_variation(torch.tensor([0.7, 0.3]), torch.tensor([0.2, 0.8]))
    tensor(0.5000)
    """
    return (p - q).abs().sum(-1) / 2


def kl_divergence(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""Compute the Kullback-Leibler divergence $\sum_s p_s \ln (p_s / q_s) - p_s + q_s$ of p from q, in nats.

    0 ln 0 counts as 0. The result is infinite if q is 0 where p is not. In rows that sum to 1 the last two terms
    cancel. In other rows, which the visitor set or a mask blocks, they prevent a sum below 0. Two rows of zeros give 0.

    p, q: weights along the last axis. Sources: Kullback, Leibler 1951, On Information and Sufficiency; for rows that do
    not sum to 1, Csiszár 1991, Why Least Squares and Maximum Entropy?

    >>> kl_divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5]))  # ln 2
    tensor(0.6931)
    >>> kl_divergence(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]))
    tensor(inf)
    """
    expected_logs = torch.xlogy(p, p)  # p ln p
    mistaken_logs = torch.xlogy(p, q)  # p ln q; its sum is minus the cross-entropy
    terms = expected_logs - mistaken_logs - p + q
    sums = terms.sum(-1)
    return sums.clamp(min=0.0)
