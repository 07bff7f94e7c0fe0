"""How far two computations of a step lie apart, infinities and masked cells included."""

import torch
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


def apart(theirs: Tensor, ours: Tensor) -> Tensor:
    """|theirs - ours| of every cell in float64; infinite where only one is finite, 0 where both are the same.

    >>> apart(torch.tensor([1.0, torch.inf, torch.nan]), torch.tensor([1.5, torch.inf, 0.0]))
    tensor([0.5000, 0.0000,    inf], dtype=torch.float64)
    """
    return subtract(theirs, ours).abs().nan_to_num(nan=torch.inf, posinf=torch.inf)


def magnitude(values: Tensor) -> float:
    """The largest finite magnitude, 1 where there is none or it is 0: what differences are measured against."""
    finite = values.double()[values.isfinite()]
    return finite.abs().max().item() or 1.0 if finite.numel() else 1.0


# ---- minus infinity, and what people write in its place --------------------------------------------------------------
FILL = -1e9  # what most code fills in; others take -1e4 in half precision, or the smallest number that there is


def stands_in(theirs: Tensor, ours: Tensor) -> Tensor:
    """Where masked scores hold a large negative number in the place of our -inf, and their softmax makes 0 of it.

    A row of nothing but such numbers is no such place: its softmax is even, not 0.

    >>> ours = torch.tensor([[1.0, -torch.inf], [-torch.inf, -torch.inf]])
    >>> stands_in(torch.tensor([[1.0, -1e9], [-1e9, -1e9]]), ours)
    tensor([[False,  True],
            [False, False]])
    """
    return ours.isneginf() & theirs.isfinite() & (torch.softmax(theirs, dim=-1) == 0)


def masked_apart(theirs: Tensor, ours: Tensor) -> Tensor:
    """`apart` for masked scores: one large negative number is as good as another where the softmax makes 0 of both."""
    both_large = theirs.isfinite() & (theirs <= -1e4) & (ours <= FILL / 2)
    return apart(theirs, ours).masked_fill(stands_in(theirs, ours) | (both_large & ours.isfinite()), 0.0)


def step_apart(name: str, theirs: Tensor, ours: Tensor) -> Tensor:
    """`apart`, for masked scores by what the softmax makes of them."""
    return masked_apart(theirs, ours) if name == "masked_scores" else apart(theirs, ours)
