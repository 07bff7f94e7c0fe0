"""The hint of a puzzle: the number whose change helps its goal most, by the gradient of the run."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.rerun import rerun
from attention_core.exercises.puzzle import Matrices, Puzzle
from attention_core.record.trace import Trace

FLAT_SLOPE = 1e-12  # slopes up to this are rounding errors


@dataclass(frozen=True)
class Hint:
    """The number to change: its matrix, row and column, and its slope, which is below 0 if it should fall."""

    name: str
    row: int
    column: int
    slope: float


def goal_slopes(puzzle: Puzzle, trace: Trace, start: Trace) -> dict[str, Float[np.ndarray, "rows columns"]]:
    r"""Compute by how much each number of the matrices helps the goal as it grows: $\pm\partial \ln m / \partial w$.

    m is the goal's number, + if it must grow, - if it must fall. The logarithm, because a share near 0 or 1 has
    hardly a slope itself: a slope of 2 means that m becomes 2 % larger (smaller) if the number grows by .01. The
    gradient is torch's, back through the operations of the run, in float64. NaN or infinite if m is 0.

    trace, start: as for judge_run. Numbers that may not be changed have a slope too; find_hint leaves them out.
    """
    with torch.inference_mode(False), torch.enable_grad():
        inputs = copy_inputs(trace)
        # The gradient is computed for the matrices that may be changed.
        matrices = []
        for name in puzzle.open:
            inputs[name] = inputs[name].double().requires_grad_()
            matrices.append(inputs[name])
        again = trace.holding(rerun(trace, theirs=inputs))
        number = puzzle.goal.number(again, start)
        sign = 1 if puzzle.goal.least else -1
        nearness = number.log() * sign
        slopes = torch.autograd.grad(
            nearness,
            matrices,
            materialize_grads=True,
        )
    arrays = [slope.numpy() for slope in slopes]
    return dict(zip(puzzle.open, arrays, strict=True))


def copy_inputs(trace: Trace) -> dict[str, Tensor]:
    """Copy the inputs of a run; a copy may have gradients."""
    inputs = {}
    for name, step in trace.inputs().items():
        inputs[name] = step.value.detach().clone()
    return inputs


def find_hint(puzzle: Puzzle, trace: Trace, slopes: Matrices) -> Hint | None:
    """Find the best number to change: of the numbers that may be changed the one with the largest slope.

    If only signs may be changed, it is the number whose other sign helps most: its slope times -2 w. None if no
    change helps, or a slope is not finite.

    slopes: from goal_slopes, for the same run.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> from attention_core.exercises.puzzles import PUZZLES
    >>> start = EXAMPLES["en_colour"].run()
    >>> hint = find_hint(PUZZLES["next"], start, goal_slopes(PUZZLES["next"], start, start))
    >>> hint.name, hint.row, hint.column, hint.slope > 0
    ('w_q', 3, 0, True)
    """
    best = None
    largest_gain = FLAT_SLOPE
    for name, (first, behind) in puzzle.open.items():
        slope = slopes[name][:, first:behind]
        gain = np.abs(slope)
        if puzzle.flips:
            numbers = trace.step(name).window()
            gain = slope * -2 * numbers[:, first:behind]
        if not np.isfinite(gain).all():
            return None
        place = np.unravel_index(gain.argmax(), gain.shape)
        if gain[place] > largest_gain:
            largest_gain = gain[place]
            row, column = place
            best = Hint(
                name,
                row=int(row),
                column=first + int(column),
                slope=float(slope[place]),
            )
    return best
