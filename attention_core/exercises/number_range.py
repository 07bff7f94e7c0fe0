"""Interval arithmetic: the range of values from which a written number may be rounded, and operations on ranges.

A written number is rounded, so a difference of half a unit of its last digit is accepted. A writer may continue with
the written number or with the unrounded one, so the next number has a range, too.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import unchanged_value
from attention_core.record.trace import Operation, Step

COMPUTATION_ROUNDING = 1e-9  # relative rounding error of this computation, absolute below 1
LARGEST_FLOAT64 = torch.finfo(torch.float64).max  # so that the tolerance of an infinity is finite

Computation = Callable[[dict[str, Tensor]], Tensor]  # {name: tensor} -> tensor


class NumberRange(NamedTuple):
    """The lowest and the highest possible value of each cell of a step."""

    low: Tensor
    high: Tensor


# ---- written numbers and ranges --------------------------------------------------------------------------------------
def agrees_with_range(theirs: Tensor, possible: NumberRange, half: float | Tensor) -> Tensor:
    """Return which numbers agree with a number of their range after rounding; NaN agrees with none.

    half: half a unit of the last written digit.
    """
    is_not_below = theirs >= possible.low
    is_inside = is_not_below & (theirs <= possible.high)
    from_low = abs_difference(theirs, possible.low)
    from_high = abs_difference(theirs, possible.high)
    gaps = torch.minimum(from_low, from_high)
    magnitudes = theirs.double().abs()
    allowed = half + COMPUTATION_ROUNDING * magnitudes.clamp(1.0, LARGEST_FLOAT64)
    return is_inside | (gaps <= allowed)


def round_range(possible: NumberRange, digits: int | None) -> NumberRange:
    """Widen a range by the rounding of its numbers: a half may go either way. digits: None if they are not rounded."""
    if digits is None:
        return possible
    low, high = possible
    unit = 10.0**-digits
    low_units = (low / unit - 0.5).ceil()
    high_units = (high / unit + 0.5).floor()
    return NumberRange(
        low=torch.minimum(low, low_units * unit),
        high=torch.maximum(high, high_units * unit),
    )


def carry_range(theirs: Tensor, follows: Tensor, own: NumberRange, half: float) -> NumberRange:
    """Return the ranges from which written numbers may be rounded.

    If all written numbers follow from the numbers before them, each range extends from the written number to the
    unrounded one; else half a unit to both sides. If one number of a step does not follow, others may follow by chance
    only: all were computed in the same way.
    """
    lowest = theirs - half
    highest = theirs + half
    all_follow = (follows | theirs.isnan()).all()
    if not all_follow:
        return NumberRange(lowest, highest)
    low = torch.maximum(own.low, lowest)
    high = torch.minimum(own.high, highest)
    return NumberRange(
        low=torch.minimum(theirs, low),
        high=torch.maximum(theirs, high),
    )


def where_range(condition: Tensor, one: NumberRange, other: NumberRange) -> NumberRange:
    """Return, cell by cell, the first range if the condition holds, else the second."""
    low = torch.where(condition, one.low, other.low)
    high = torch.where(condition, one.high, other.high)
    return NumberRange(low, high)


# ---- the range of a step's result ------------------------------------------------------------------------------------
def step_range(step: Step, ranges: Mapping[str, NumberRange]) -> NumberRange:
    """Compute the range of every cell of a step from the ranges of the steps before it."""
    if step.operation is not None:
        return range_through(step.operation, ranges)
    value = unchanged_value(step, {}).clone()
    return NumberRange(value, value)


def range_through(operation: Operation, ranges: Mapping[str, NumberRange]) -> NumberRange:
    """Compute the range of every cell of a step from the ranges of its operands."""
    operands = {name: ranges[name] for name in operation.reads}
    return range_of_function(operation.apply, operands)


def range_of_function(apply: Computation, ranges: Mapping[str, NumberRange]) -> NumberRange:
    """Compute the range of every cell of a function's result from the ranges of its tensors.

    It evaluates the corners at which a cell is lowest and highest by its slopes: exact for functions that only rise
    or only fall in each operand.

    >>> ranges = {"x": NumberRange(torch.tensor([1.0, -1.0]), torch.tensor([2.0, 0.0]))}
    >>> low, high = range_of_function(lambda read: 2 * read["x"], ranges)
    >>> low.tolist(), high.tolist()
    ([2.0, -2.0], [4.0, 0.0])
    """
    still = {name: ends.low for name, ends in ranges.items()}
    moving = {}
    for name, ends in ranges.items():
        if not torch.equal(ends.low, ends.high):
            moving[name] = ends
    value = apply(still)
    if not moving or not value.is_floating_point():
        return NumberRange(value, value)
    slopes = slopes_at_the_middle(apply, still, moving)
    one = value.clone()
    other = value.clone()
    for cell in np.ndindex(*value.shape):
        own_slopes = {name: slope[cell] for name, slope in slopes.items()}
        lowest, highest = find_corners(moving, own_slopes)
        one[cell] = apply(still | lowest)[cell]
        other[cell] = apply(still | highest)[cell]
    return NumberRange(
        low=torch.minimum(one, other),
        high=torch.maximum(one, other),
    )


def find_corners(
    moving: Mapping[str, NumberRange], slopes: Mapping[str, Tensor]
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Find the ends of the ranges at which a cell is lowest, and at which it is highest. slopes: of this cell."""
    lowest = {}
    highest = {}
    for name, (low, high) in moving.items():
        rises = slopes[name] > 0
        lowest[name] = torch.where(rises, low, high)
        highest[name] = torch.where(rises, high, low)
    return lowest, highest


def slopes_at_the_middle(
    apply: Computation, still: Mapping[str, Tensor], moving: Mapping[str, NumberRange]
) -> dict[str, Tensor]:
    """Compute the derivative of every cell by every tensor with a range: the cells' axes, then the tensor's."""

    def apply_to_moving(*tensors: Tensor) -> Tensor:
        operands = dict(still)
        operands.update(zip(moving, tensors, strict=True))
        return apply(operands)

    middles = []
    for low, high in moving.values():
        middle = (low + high) / 2
        middles.append(middle)
    slopes = torch.autograd.functional.jacobian(apply_to_moving, tuple(middles))
    return dict(zip(moving, slopes, strict=True))
