"""Defines puzzles: the numbers of a run that may be changed, the bounds that the changed run must satisfy, and a hint.

The goal and each further condition are limits of a number of the changed run, so that any solution is accepted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.rerun import rerun
from attention_core.inputs.matrix_edits import changed_cells
from attention_core.inputs.matrix_link import from_short_text
from attention_core.inputs.matrix_text import shortest_decimal
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Operation, Step, Trace

MAX_TYPED_MAGNITUDE = 20  # largest number that a visitor may type; much larger ones would make puzzles trivial
Matrices = Mapping[str, Float[np.ndarray, "rows columns"]]
RunNumber = Callable[[Trace, Trace], Tensor]  # a function of (changed run, starting run) that returns a number
FLAT_SLOPE = 1e-12  # slopes of at most this magnitude are treated as 0, because of rounding


@dataclass(frozen=True)
class Bound:
    """A bound on a number of a run: at least `limit` if `least` is True, else at most `limit`."""

    name: str
    number: RunNumber
    limit: float
    least: bool = True


@dataclass(frozen=True)
class BoundReading:
    """A bound together with the value that its number has in a run."""

    bound: Bound
    value: float

    @property
    def holds(self) -> bool:
        """Return whether the number satisfies its bound; NaN does not satisfy any bound."""
        if self.bound.least:
            return self.value >= self.bound.limit
        return self.value <= self.bound.limit


@dataclass(frozen=True, eq=False)
class Puzzle:
    """A puzzle: its starting Setup (the options of a run), the matrices that may be changed, the goal and further
    bounds.

    parts: fields of the starting Setup, as plain values. twins: {language: the fields that differ between languages}.
    open: {matrix that may be changed: (its first changeable column, the column after the last)}. goal: the bound to
    reach. bounds: further bounds that the run must satisfy too. heads: the indices of the heads whose weights change.
    asks: the position of the query that the goal is about, or None. cast: {word that the puzzle's texts mention: its
    position in the sentence}. flips: whether only signs may be changed. solution: the known solution with the fewest
    changes, in the form that format_changes writes.
    """

    name: str
    twins: Mapping[str, Mapping[str, object]]
    open: Mapping[str, tuple[int, int]]
    goal: Bound
    solution: str
    bounds: tuple[Bound, ...] = ()
    parts: Mapping[str, object] = field(default_factory=dict)
    heads: tuple[int, ...] = (0,)
    cast: Mapping[str, int] = field(default_factory=dict)
    flips: bool = False
    asks: int | None = None

    def start(self, language: str) -> dict[str, object]:
        """Return the fields of the Setup with which the puzzle starts, for a language."""
        return {**self.parts, **self.twins[language]}


# ---- changes as text -------------------------------------------------------------------------------------------------
def format_changes(matrices: Matrices, start: Matrices) -> str:
    """Write the numbers that differ from the starting matrices as text: "matrix~row.column=number;...,matrix~...".

    read_changes parses this text.

    >>> format_changes({"w_q": np.array([[1.0, 2.5]])}, {"w_q": np.zeros((1, 2))})
    'w_q~0.0=1;0.1=2.5'
    """
    parts = []
    for name, matrix in matrices.items():
        cells = []
        for row, column in changed_cells(matrix, start[name]):
            number = shortest_decimal(matrix[row, column].item())
            cells.append(f"{row}.{column}={number}")
        if cells:
            all_cells = ";".join(cells)
            parts.append(f"{name}~{all_cells}")
    return ",".join(parts)


def count_changes(matrices: Matrices, start: Matrices) -> int:
    """Count the numbers that differ between the changed and the starting matrices.

    >>> count_changes({"w_q": np.array([[1.0, 2.5]])}, {"w_q": np.array([[1.0, 0.0]])})
    1
    """
    return sum(int((matrix != start[name]).sum()) for name, matrix in matrices.items())


def read_changes(puzzle: Puzzle, text: str, start: Matrices) -> dict[str, np.ndarray]:
    """Parse the changed matrices of a puzzle from a text.

    text: "matrix~row.column=number;...,matrix~...", as format_changes writes it. start: the matrices at the start.

    Raises AttentionError: edit_form and those of from_short_text; puzzle_closed for a number that may not be changed;
    too_large for a number above MAX_TYPED_MAGNITUDE.

    >>> from attention_core.exercises.puzzles import PUZZLES
    >>> read_changes(PUZZLES["even"], "w_k~0.1=1", {"w_k": np.array([[1.0, -1.0]])})["w_k"]
    array([[1., 1.]])
    """
    matrices = {name: start[name] for name in puzzle.open}
    if not text:
        return matrices
    for part in text.split(","):
        name, mark, cells = part.partition("~")
        has_form = mark and name in matrices
        if not has_form:
            names = ", ".join(puzzle.open)
            raise AttentionError("edit_form", name=names, given=part[:20])
        matrices[name] = from_short_text(f"~{cells}", start[name], name)
        check_change(puzzle, name, matrices[name], start[name])
    return matrices


def check_change(puzzle: Puzzle, name: str, matrix: np.ndarray, start: np.ndarray) -> None:
    """Raise AttentionError if a changed number may not be changed, or exceeds MAX_TYPED_MAGNITUDE.

    name: the name of the matrix. start: the matrix at the start.
    """
    first, behind = puzzle.open.get(name, (0, 0))
    for row, column in changed_cells(matrix, start):
        number = matrix[row, column]
        place = {
            "name": name,
            "row": row + 1,
            "column": column + 1,
            "given": format_exact(number),
        }
        is_open = first <= column < behind
        if not is_open:
            expected = format_exact(start[row, column])
            raise AttentionError("puzzle_closed", expected=expected, **place)
        if not abs(number) <= MAX_TYPED_MAGNITUDE:
            raise AttentionError("too_large", limit=MAX_TYPED_MAGNITUDE, **place)


# ---- is it solved? ---------------------------------------------------------------------------------------------------
def judge_run(puzzle: Puzzle, trace: Trace, start: Trace) -> list[BoundReading]:
    """Return the goal and the further bounds, each with its number's value in a run; the puzzle is solved if all of
    them hold.

    trace: the run with the changed numbers. start: the starting run. Raises AttentionError if anything else was
    changed: puzzle_other, and those of check_change.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> from attention_core.exercises.puzzles import PUZZLES
    >>> start = EXAMPLES["en_colour"].run()
    >>> [reading.holds for reading in judge_run(PUZZLES["next"], start, start)]
    [False, True, True]
    """
    check_run(puzzle, trace, start)
    readings = []
    for bound in (puzzle.goal, *puzzle.bounds):
        number = bound.number(trace, start)
        readings.append(BoundReading(bound, float(number)))
    return readings


def is_solved(readings: list[BoundReading]) -> bool:
    """Return whether a run satisfies all bounds."""
    return all(reading.holds for reading in readings)


def check_run(puzzle: Puzzle, trace: Trace, start: Trace) -> None:
    """Raise AttentionError if a run differs from the starting run in something that may not be changed."""
    for name in dict.fromkeys((*start.steps, *trace.steps)):
        own = trace.steps.get(name)
        first = start.steps.get(name)
        may_differ = name in puzzle.open
        if not is_unchanged(own, first, may_differ):
            names = ", ".join(puzzle.open)
            raise AttentionError("puzzle_other", choices=names, name=name)
        if may_differ and own.operation is None:
            check_change(puzzle, name, own.window(), first.window())


def is_unchanged(own: Step | None, first: Step | None, may_differ: bool) -> bool:
    """Return whether a step is equal in two runs.

    own, first: the step in each run; None if a run lacks it. may_differ: whether the numbers of an input may differ.
    """
    if own is None or first is None or own.shape != first.shape:
        return False
    if own.operation is None and first.operation is None:
        return may_differ or torch.equal(own.value, first.value)
    if own.operation is None or first.operation is None:
        return False
    return is_same_operation(own.operation, first.operation)


def is_same_operation(own: Operation, first: Operation) -> bool:
    """Return whether two operations have the same functions and read the same steps."""
    same_faces = own.faces == first.faces
    same_reads = own.reads == first.reads
    same_params = dict(own.params) == dict(first.params)
    return same_faces and same_reads and same_params


# ---- the hint: the number whose change helps the goal most, by the gradient of the run -------------------------------
@dataclass(frozen=True)
class Hint:
    """The number whose change brings the visitor nearest to the goal: its matrix, row, column and slope (negative:
    decrease it).
    """

    name: str
    row: int
    column: int
    slope: float


def goal_slopes(puzzle: Puzzle, trace: Trace, start: Trace) -> dict[str, Float[np.ndarray, "rows columns"]]:
    r"""Compute how much an increase of each number of the matrices helps the goal: $\pm\partial \ln m / \partial w$.

    m is the number of the run that the goal limits; the sign is + if m must grow, - if m must fall. The logarithm has a
    useful slope even if m is a weight near 0 or 1. A slope of 2 means that m grows (or falls) by 2 % if the number
    grows by .01. The gradient is computed by torch in float64 through the operations of the run; it is NaN or infinite
    if m is 0.

    trace: the run with the changed numbers. start: the starting run. Numbers that may not be changed have a slope, too;
    find_hint ignores them.
    """
    with torch.inference_mode(False), torch.enable_grad():
        inputs = copy_inputs(trace)
        # one tensor per matrix that may be changed
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
    """Copy the inputs of a run, so that gradients with respect to the copies can be computed."""
    inputs = {}
    for name, step in trace.inputs().items():
        inputs[name] = step.value.detach().clone()
    return inputs


def find_hint(puzzle: Puzzle, trace: Trace, slopes: Matrices) -> Hint | None:
    """Find the number whose change helps most: of those that may be changed, the one with the steepest slope.

    If only signs may be changed, it is the number w with the largest slope times -2 w, whose change of sign helps most.
    Returns None if no change helps, or if a slope is not finite.

    slopes: the result of goal_slopes for the same run.

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
