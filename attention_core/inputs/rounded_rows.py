"""Infers from weights how far rounding may move the sum of a row: a file may have widened their dtype."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.rerun import can_hold

SUM_TOLERANCE = 1e-3  # in float32 the sum of a row differs from 1 by less
SINGLE_PRECISION = 1e-7  # rounding error of a share in float32
MAX_DECIMALS = 5  # decimals of printed numbers; with more, no visible sum changes
MAX_ROUNDED_SUM = 0.1  # distance from 1 up to which a row counts as rounded


@dataclass(frozen=True)
class Rounding:
    """The rounding of numbers: to a dtype, "bfloat16" or "float16"; to a number of decimals; or neither."""

    dtype: str = ""
    decimals: int = 0

    def allowance(self, weights: Float[Tensor, "*rows S"]) -> Float[Tensor, "*rows"]:
        """The largest distance of each row's sum from 1 by rounding: the sum of half a unit of each of its numbers.

        >>> Rounding("bfloat16").allowance(torch.full((1, 4), 0.25)).item()       # half of 2⁻⁷, and the tolerance
        0.004906250163912773
        """
        sums = weights.abs().sum(-1)
        keys = weights.shape[-1]
        rounded = torch.zeros_like(sums)
        if self.dtype:
            held = torch.finfo(getattr(torch, self.dtype))
            rounded = held.eps / 2 * sums + keys * held.smallest_normal * held.eps / 2
        if self.decimals:
            rounded = torch.full_like(sums, keys * 0.5 * 10.0**-self.decimals)
        return SUM_TOLERANCE + rounded.clamp(max=MAX_ROUNDED_SUM)


def find_rounding(numbers: Tensor) -> Rounding:
    """The rounding of numbers: the coarsest dtype that holds all of them, else the number of decimals if few.

    >>> thirds = torch.full((3, 3), 1 / 3, dtype=torch.float64)
    >>> find_rounding(thirds.bfloat16().double()), find_rounding(thirds.round(decimals=2)), find_rounding(thirds)
    (Rounding(dtype='bfloat16', decimals=0), Rounding(dtype='', decimals=2), Rounding(dtype='', decimals=0))
    """
    if torch.equal(numbers, numbers.round()):
        return Rounding()  # whole numbers are the same in every precision
    for dtype in (torch.bfloat16, torch.float16):
        if can_hold(dtype, numbers):
            return Rounding(dtype=str(dtype).removeprefix("torch."))
    for decimals in range(1, MAX_DECIMALS + 1):
        if (numbers - numbers.round(decimals=decimals)).abs().max() < SINGLE_PRECISION:
            return Rounding(decimals=decimals)
    return Rounding()
