"""Computes, by interval arithmetic, the range of values from which a number may have been rounded, and the effects of
rounding.

A visitor writes rounded numbers, so that a difference of half a unit of the last digit is accepted. The visitor may
calculate on with the rounded number or with the unrounded one, so that the next number has a range, too.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import unchanged_value
from attention_core.mechanism.operations import MIX
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace

COMPUTATION_ROUNDING = 1e-9  # accepted rounding error of float64: relative, but absolute below 1
LARGEST_FLOAT64 = torch.finfo(torch.float64).max  # keeps the tolerance of an infinite number finite

Computation = Callable[[dict[str, Tensor]], Tensor]  # a function from {name: tensor} to a tensor


# ---- interval arithmetic ---------------------------------------------------------------------------------------------
class NumberRange(NamedTuple):
    """The lowest and the highest possible value of each cell of a step."""

    low: Tensor
    high: Tensor


# ---- written numbers and ranges --------------------------------------------------------------------------------------
def agrees_with_range(theirs: Tensor, possible: NumberRange, half: float | Tensor) -> Tensor:
    """Return which of the visitor's numbers equal, after rounding, some number of their range; NaN never does.

    theirs: the visitor's numbers. possible: the range of each. half: half a unit of the last digit that the visitor
    wrote.
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
    """Widen a range so that it includes its numbers after rounding, whether halves are rounded up or down.

    digits: the number of decimals; None if the numbers are not rounded.
    """
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
    """Return the range of values that each of the visitor's numbers may have had before it was rounded.

    If all numbers of the step follow from earlier ones, each range extends from the written number to the unrounded
    one. Otherwise each range extends half a unit to both sides: all numbers of a step were computed in the same way, so
    those that follow may do so by chance. theirs: the visitor's numbers. follows: which of them follow. own: the ranges
    computed from the visitor's earlier numbers. half: half a unit of the last digit.
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
    """Return, cell by cell, the first range where the condition holds, else the second."""
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
    """Compute the range of every cell of an operation's result from its operands' ranges."""
    operands = {name: ranges[name] for name in operation.reads}
    return range_of_function(operation.apply, operands)


def range_of_function(apply: Computation, ranges: Mapping[str, NumberRange]) -> NumberRange:
    """Compute the range of every cell of a function's result from the ranges of its tensors.

    The slopes tell at which ends of the ranges a cell is lowest and highest, and the function is evaluated there. The
    result is exact if the function only rises or only falls with each operand.

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
    """Return the ends of the operands' ranges at which a cell is lowest, and those at which it is highest.

    moving: {operand with a range: its range}. slopes: {operand: the derivatives of this cell by the operand's numbers}.
    """
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
    """Compute, at the middle of the ranges, the derivatives of each cell of the result by the numbers of each tensor
    with a range.

    still: {operand without a range: its numbers}. moving: {operand with a range: its range}. The derivatives have the
    axes of the result, then the axes of the tensor.
    """

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


# ---- numbers with so many decimals, a half away from 0 ---------------------------------------------------------------
def write_down(numbers: Float[Tensor, "..."], *, digits: int) -> Float[Tensor, "..."]:
    unit = 10.0**digits
    units = (numbers.abs() * unit + 0.5).floor()
    return torch.copysign(units / unit, numbers)


def write_down_numpy(numbers, *, digits):
    unit = 10.0**digits
    units = np.floor(np.abs(numbers) * unit + 0.5)
    return np.sign(numbers) * units / unit


def write_down_formula(numbers, *, digits):
    return rf"\mathrm{{round}}({numbers}, {digits})"


def write_down_cell(index, numbers: Operand, *, digits) -> Cell:
    number = (numbers[index],)
    decimals = (Constant(float(digits), str(digits)),)
    return Cell((number, decimals), function="round")


ROUND = Faces(write_down, write_down_numpy, write_down_formula, write_down_cell)


def with_rounded_weights(trace: Trace, digits: int) -> Trace:
    """Add two steps to a run: `rounded_weights`, and `rounded_outputs`, the head outputs computed from them.

    digits: the decimals of the rounded weights.

    >>> from attention_core import attend_qkv
    >>> thirds = attend_qkv(torch.zeros(1, 2), torch.zeros(3, 2), torch.eye(3))
    >>> with_rounded_weights(thirds, 2)["rounded_outputs"].flatten()
    tensor([0.3300, 0.3300, 0.3300])
    """
    dims = trace.step("head_outputs").dims
    return trace.then(
        Operation("rounded_weights", SCORE_DIMS, ("weights",), ROUND, {"digits": digits}),
        Operation("rounded_outputs", dims, ("rounded_weights", "v"), MIX),
    )


# ---- the largest effect of rounding ----------------------------------------------------------------------------------
def half_a_unit(digits: int | None) -> float:
    """Return the largest error of rounding to `digits` decimals: half a unit of the last one; 0 for None (exact).

    >>> half_a_unit(2), half_a_unit(None)
    (0.005, 0.0)
    """
    if digits is None:
        return 0.0
    return 0.5 * 10.0**-digits


def rounding_reach(trace: Trace, step: str, by: str, digits: int) -> Float[Tensor, "..."]:
    r"""Compute how much each cell of a step can change at most if the step `by`, one of its operands, is rounded.

    by: the step of the operand. digits: the decimals to which the operand is rounded.

    For the head outputs this is $\frac{1}{2} 10^{-d} \sum_s |v_s|$: each weight may be off by half a unit, and all
    errors may change the output in the same direction.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.tensor([[3.0], [-1.0]]))
    >>> rounding_reach(trace, "head_outputs", "weights", 2).flatten()
    tensor([0.0200, 0.0200], dtype=torch.float64)
    """
    operation = trace.step(step).operation
    right = trace[step]
    half = half_a_unit(digits)
    with torch.inference_mode(False), torch.enable_grad():
        ranges = {}
        for name in operation.reads:
            value = trace[name].clone().double()
            ranges[name] = NumberRange(value, value)
        rounded = ranges[by].low
        ranges[by] = NumberRange(rounded - half, rounded + half)
        low, high = range_through(operation, ranges)
        return torch.maximum(high - right, right - low)


def find_farthest_from(numbers: Float[Tensor, "..."], wanted: float) -> float:
    """Return the number that is farthest from a wanted number, such as the sum of rounded weights farthest from 1.

    >>> find_farthest_from(torch.tensor([1.0, 0.75, 1.125]), 1.0)
    0.75
    """
    flat = numbers.flatten()
    gaps = (flat - wanted).abs()
    return flat[gaps.argmax()].item()
