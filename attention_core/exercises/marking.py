"""Marks each cell of a visitor's worked example: right, wrong ("slip"), or right given the visitor's earlier errors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor

from attention_core.comparison.rerun import unchanged_value
from attention_core.exercises.rounding import (
    NumberRange,
    agrees_with_range,
    carry_range,
    half_a_unit,
    round_range,
    step_range,
    where_range,
)
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.verification.causes import fit_given_steps


class Mark(IntEnum):
    """The mark of a cell in a worked example that a visitor wrote.

    SLIP: a number that is wrong even given the visitor's earlier numbers. FOLLOWED: a number that is right given the
    visitor's earlier numbers, but differs from the right run because an earlier number is wrong.
    """

    UNANSWERED = 0
    RIGHT = 1
    FOLLOWED = 2
    SLIP = 3


@dataclass(frozen=True, eq=False)
class MarkedStep:
    """One marked step of a worked example that a visitor wrote, with every field in the shape of the step.

    theirs: the visitor's numbers, NaN for empty cells. own: the numbers computed from the visitor's earlier numbers.
    right: whether `theirs` agrees with the right run. follows: whether `theirs` agrees with `own`; a cell can be right
    and not follow, if the visitor copied it or two slips cancel. behind: the ranges of the visitor's numbers before
    rounding; for empty cells, the ranges computed from earlier steps.
    """

    theirs: Tensor
    own: Tensor
    right: Tensor
    follows: Tensor
    behind: NumberRange

    @property
    def marks(self) -> Tensor:
        """Return the mark of each cell as a tensor of whole numbers."""
        marks = torch.full(self.theirs.shape, int(Mark.SLIP))
        marks[self.follows] = int(Mark.FOLLOWED)
        marks[self.right] = int(Mark.RIGHT)
        is_unanswered = self.theirs.isnan()
        marks[is_unanswered] = int(Mark.UNANSWERED)
        return marks

    @property
    def met(self) -> Tensor:
        """Return which cells have the right number although it does not follow from the visitor's earlier numbers."""
        is_right = self.marks == Mark.RIGHT
        return is_right & ~self.follows

    def count(self, mark: Mark) -> int:
        """Count the cells with this mark."""
        is_counted = self.marks == mark
        return int(is_counted.sum())


def mark_answers(
    trace: Trace, answers: Mapping[str, Tensor], decimals: int | Mapping[str, int] | None = None
) -> dict[str, MarkedStep]:
    """Mark every number of a written worked example, step by step in the order of the run.

    trace: the run with the right numbers. answers: the written numbers by the names of the trace's steps, floating
    point, NaN for empty cells; leading axes of length 1 may be missing. Empty cells are computed from the written
    numbers before them. decimals: the decimals of the written numbers, for all steps or by name; a step that is not
    named has exact numbers, such as whole ones.

    A number agrees if it is at most half a unit of its last decimal outside the range of possible values. The range is
    a single number if no earlier number was rounded. The range of a rounded number extends to the unrounded one; that
    of a slip (a wrong number), whose unrounded number is unknown, half a unit to both sides. range_of_function computes
    the ranges of the next step exactly, because in a small range each operation only rises or only falls with each
    operand.

    Returns {step: MarkedStep} for the answered steps. Raises AttentionError (a ValueError) as first_difference does,
    and for a shape that does not fit. Thousands of rounded numbers take seconds; handwritten numbers are few.

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
            dims = ", ".join(step.dims)
            shape = step.shape
            raise AttentionError(
                "rank",
                name=name,
                axes=f"({dims}) = {shape}",
                shape=tuple(answers[name].shape),
            )
    with torch.inference_mode(False), torch.enable_grad():
        copies = {name: value.clone() for name, value in theirs.items()}  # copies, so that gradients can be computed
        return dict(mark_steps(trace, copies, decimals))


def mark_steps(
    trace: Trace, answers: Mapping[str, Tensor], decimals: int | Mapping[str, int] | None
) -> Iterator[tuple[str, MarkedStep]]:
    """Compute the right run and the visitor's run side by side; yield the name and the MarkedStep of each answered
    step.

    Both runs are computed step by step.
    """
    page: dict[str, Tensor] = {}  # step -> the visitor's numbers, in which empty cells are filled by computed numbers
    right: dict[str, NumberRange] = {}
    own: dict[str, NumberRange] = {}
    for name, step in trace.steps.items():
        value = unchanged_value(step, page).clone()
        right[name] = step_range(step, right)
        own[name] = step_range(step, own)
        if name not in answers:
            page[name] = value
            continue
        digits = decimals
        if isinstance(decimals, Mapping):
            digits = decimals.get(name)
        theirs = answers[name]
        marked = mark_step(theirs, value, right[name], own[name], digits)
        yield name, marked
        # Later steps are computed from the visitor's numbers, and from the ranges of these before rounding.
        is_answered = ~theirs.isnan()
        page[name] = torch.where(is_answered, theirs, value)
        own[name] = marked.behind
        if theirs.is_floating_point():
            rounded = round_range(right[name], digits)
            right[name] = where_range(is_answered, rounded, right[name])


def mark_step(theirs: Tensor, value: Tensor, right: NumberRange, own: NumberRange, digits: int | None) -> MarkedStep:
    """Compare the visitor's numbers of one step with the right ones and with those that follow from the earlier
    numbers.

    theirs: the visitor's numbers. value: the step computed from the visitor's earlier numbers. right, own: the ranges
    of the step in the right run, and in the run with the visitor's numbers. digits: the decimals of the visitor's
    numbers; None for exact numbers.
    """
    half = half_a_unit(digits)
    follows = agrees_with_range(theirs, own, half)
    if theirs.is_floating_point():
        carried = carry_range(theirs, follows, own, half)
        behind = where_range(~theirs.isnan(), carried, own)
    else:
        behind = NumberRange(theirs, theirs)
    return MarkedStep(
        theirs,
        value,
        right=agrees_with_range(theirs, right, half),
        follows=follows,
        behind=behind,
    )
