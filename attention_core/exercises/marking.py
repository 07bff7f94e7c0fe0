"""Somebody's worked example checked cell by cell: right, a new slip, or right given their own earlier slips.

A printed number is the number behind it rounded: half a unit of its last digit is forgiven. Whoever goes on from there
may take the printed number or the one behind it, so what may come next is a range, and every step's range is worked
out from those before it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import unchanged_value
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Trace
from attention_core.verification.causes import fit_given_steps

COMPUTATION_ROUNDING = 1e-9  # of a number, 1 at least: what the computation here may round
LARGEST_FLOAT64 = torch.finfo(torch.float64).max  # an infinity is forgiven nothing
NumberRange = tuple[Tensor, Tensor]  # the lowest and the highest that a step's cells may be


class Mark(IntEnum):
    """What a cell is. A slip is wrong even from the writer's own numbers before it; what followed is right from those,
    and wrong because one of them is."""

    UNANSWERED = 0
    RIGHT = 1
    FOLLOWED = 2
    SLIP = 3


@dataclass(frozen=True, eq=False)
class MarkedStep:
    """One step of somebody's worked example, every field in the step's shape.

    theirs: their numbers, NaN where there is none. own: what their own numbers before it make of it. right: whether
    theirs agrees with the run; follows: whether it agrees with what their own numbers make of it. A cell can be right
    and not follow: the writer took it from elsewhere, or two slips met. behind: what may stand behind their numbers,
    and behind what those make of the cells that they leave out.
    """

    theirs: Tensor
    own: Tensor
    right: Tensor
    follows: Tensor
    behind: NumberRange

    @property
    def marks(self) -> Tensor:
        """A Mark a cell, as whole numbers."""
        marks = torch.full(self.theirs.shape, int(Mark.SLIP))
        marks[self.follows] = int(Mark.FOLLOWED)
        marks[self.right] = int(Mark.RIGHT)
        marks[self.theirs.isnan()] = int(Mark.UNANSWERED)
        return marks

    @property
    def met(self) -> Tensor:
        """The cells that are right and do not follow."""
        return (self.marks == Mark.RIGHT) & ~self.follows

    def count(self, mark: Mark) -> int:
        """How many cells have this mark."""
        return int((self.marks == mark).sum())


def mark_answers(
    trace: Trace, answers: Mapping[str, Tensor], decimals: int | Mapping[str, int] | None = None
) -> dict[str, MarkedStep]:
    """Marks every number of somebody's worked example, step by step in the order of the run.

    trace: the run with the right numbers. answers: their numbers by the names of the trace's steps, floating point, NaN
    where they give none; leading axes of length 1 may be left out. What they leave out is computed from their own
    numbers before it. decimals: with how many they print, for all steps or by name; a step that is not named holds
    exact numbers, such as whole ones.

    A number agrees where it is at most half a unit of its last decimal outside the range of what may come there. That
    range is a single number as long as nothing before it was rounded. From a rounded number it reaches to the unrounded
    one; from a slip, the number behind which nobody knows, half a unit to both sides. Through an operation a range goes
    by its corners: those on which the slopes say that a cell is lowest and highest (exact for operations that only rise
    or only fall in each operand, as all here do in a small range).

    Returns a Marked for each step that is answered. Raises AttentionError (a ValueError) as first_difference does, and
    for a shape that does not fit. Some seconds for thousands of rounded numbers: it is meant for what people write.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.tensor([[2.0]]), torch.tensor([[3.0], [4.0]]), torch.tensor([[1.0], [2.0]]))
    >>> found = mark_answers(trace, {"scores": torch.tensor([[6.0, 9.0]]), "scaled_scores": torch.tensor([[6.0, 9.0]])})
    >>> found["scores"].marks.tolist()  # 2 x 4 is 8
    [[[[1, 3]]]]
    >>> found["scaled_scores"].marks.tolist()  # the scale is 1: 9 is right from their own 9
    [[[[1, 2]]]]
    """
    theirs = fit_given_steps(trace, answers)
    for name in answers:
        if name not in theirs:
            step = trace.step(name)
            axes = f"({', '.join(step.dims)}) = {tuple(step.value.shape)}"
            raise AttentionError("rank", name=name, axes=axes, shape=tuple(answers[name].shape))
    with torch.inference_mode(False), torch.enable_grad():
        return dict(mark_steps(trace, {name: value.clone() for name, value in theirs.items()}, decimals))


def mark_steps(
    trace: Trace, answers: Mapping[str, Tensor], decimals: int | Mapping[str, int] | None
) -> Iterator[tuple[str, MarkedStep]]:
    """The answered steps by name, marked: the run and the writer's own go side by side."""
    written: dict[str, Tensor] = {}  # the numbers on the writer's page, and what they make of the steps left out
    right: dict[str, NumberRange] = {}
    own: dict[str, NumberRange] = {}
    for name, step in trace.steps.items():
        value = unchanged_value(step, written).clone()
        if step.operation is None:
            right[name] = own[name] = (value, value)
        else:
            right[name], own[name] = range_through(step.operation, right), range_through(step.operation, own)
        written[name], theirs = value, answers.get(name)
        if theirs is None:
            continue
        digits = decimals.get(name) if isinstance(decimals, Mapping) else decimals
        half = 0.0 if digits is None else 0.5 * 10.0**-digits
        answered, follows = ~theirs.isnan(), agrees_with_range(theirs, own[name], half)
        fits = agrees_with_range(theirs, right[name], half)
        written[name] = torch.where(answered, theirs, value)
        if theirs.is_floating_point():
            right[name] = where_range(answered, round_range(right[name], digits), right[name])
            own[name] = where_range(answered, carry_range(theirs, follows, own[name], half), own[name])
        else:
            own[name] = (theirs, theirs)
        yield name, MarkedStep(theirs, value, fits, follows, own[name])


# ---- ranges ----------------------------------------------------------------------------------------------------------
def agrees_with_range(theirs: Tensor, range_: NumberRange, half: float) -> Tensor:
    """Whether each number is a rounded one of its range; no number agrees with nothing."""
    low, high = range_
    inside = (theirs >= low) & (theirs <= high)
    outside = torch.minimum(abs_difference(theirs, low), abs_difference(theirs, high))
    return inside | (outside <= half + COMPUTATION_ROUNDING * theirs.double().abs().clamp(1.0, LARGEST_FLOAT64))


def round_range(range_: NumberRange, digits: int | None) -> NumberRange:
    """A range, and what its numbers are rounded to: a half goes either way."""
    if digits is None:
        return range_
    (low, high), unit = range_, 10.0**-digits
    return torch.minimum(low, (low / unit - 0.5).ceil() * unit), torch.maximum(high, (high / unit + 0.5).floor() * unit)


def carry_range(theirs: Tensor, follows: Tensor, own: NumberRange, half: float) -> NumberRange:
    """What may stand behind a written number: where it follows, all from it to the unrounded one; else half a unit to
    both sides. Where one number of a step does not follow, another may only seem to: it was made in the same way."""
    (low, high), (lowest, highest) = own, (theirs - half, theirs + half)
    if not (follows | theirs.isnan()).all():
        return lowest, highest
    unrounded = torch.maximum(low, lowest), torch.minimum(high, highest)
    return torch.minimum(theirs, unrounded[0]), torch.maximum(theirs, unrounded[1])


def where_range(condition: Tensor, one: NumberRange, other: NumberRange) -> NumberRange:
    """One range where the condition holds, else the other."""
    return torch.where(condition, one[0], other[0]), torch.where(condition, one[1], other[1])


def range_through(operation: Operation, ranges: Mapping[str, NumberRange]) -> NumberRange:
    """The range of every cell of a step, while its operands move in theirs."""
    return range_of_function(operation.apply, {name: ranges[name] for name in operation.reads})


def range_of_function(
    apply: Callable[[Mapping[str, Tensor]], Tensor], ranges: Mapping[str, NumberRange]
) -> NumberRange:
    """The range of every cell of what a function makes of some tensors, while these move in theirs.

    >>> ranges = {"x": (torch.tensor([1.0, -1.0]), torch.tensor([2.0, 0.0]))}
    >>> low, high = range_of_function(lambda read: 2 * read["x"], ranges)
    >>> low.tolist(), high.tolist()
    ([2.0, -2.0], [4.0, 0.0])
    """
    still = {name: low for name, (low, _) in ranges.items()}
    moving = {name: ends for name, ends in ranges.items() if not torch.equal(*ends)}
    value = apply(still)
    if not moving or not value.is_floating_point():
        return value, value
    slopes = slopes_at_the_middle(apply, still, moving)
    low, high = value.clone(), value.clone()
    for cell in np.ndindex(*value.shape):
        ends: list[dict[str, Tensor]] = [{}, {}]
        for name, slope in slopes.items():
            least, most = ranges[name]
            ends[0][name] = torch.where(slope[cell] > 0, least, most)
            ends[1][name] = torch.where(slope[cell] > 0, most, least)
        low[cell], high[cell] = (apply({**still, **end})[cell] for end in ends)
    return torch.minimum(low, high), torch.maximum(low, high)


def slopes_at_the_middle(
    apply: Callable[[Mapping[str, Tensor]], Tensor], still: Mapping[str, Tensor], moving: Mapping[str, NumberRange]
) -> dict[str, Tensor]:
    """The derivative of every cell by every tensor that moves: the cells' axes, then the tensor's."""

    def applied(*tensors: Tensor) -> Tensor:
        return apply({**still, **dict(zip(moving, tensors, strict=True))})

    middle = tuple((low + high) / 2 for low, high in moving.values())
    return dict(zip(moving, torch.autograd.functional.jacobian(applied, middle), strict=True))


# ---- what others printed ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class PrintedExample:
    """A worked example as it was printed: its numbers by step, the decimals of those that are rounded, and its
    source."""

    steps: Mapping[str, Tensor]
    decimals: Mapping[str, int]
    source: str


def read_printed(entries: Mapping[str, dict]) -> Mapping[str, PrintedExample]:
    """Printed examples by the name of the example that they work out."""
    found = {}
    for name, entry in entries.items():
        steps = {step: torch.tensor(numbers, dtype=torch.float64) for step, numbers in entry["steps"].items()}
        found[name] = PrintedExample(MappingProxyType(steps), MappingProxyType(entry["decimals"]), entry["source"])
    return MappingProxyType(found)


PRINTED_EXAMPLES = read_printed(json.loads(Path(__file__).with_name("printed.json").read_text(encoding="utf-8")))
