"""A puzzle: a run to begin with, the numbers that may be changed, what must come of it, and which change helps most.

Whether it is solved is read off the run alone, so that any solution is accepted: what must come of it is a number of
the run with a limit, and so is everything that must stay true.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.rerun import rerun
from attention_core.inputs.matrix_edits import changed_cells as changed_places
from attention_core.inputs.matrix_edits import from_short_text
from attention_core.inputs.matrix_text import shortest_decimal
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Trace

MAX_TYPED_MAGNITUDE = 20  # of a number that is typed: a score of thousands would solve much and show nothing
FLAT_SLOPE = 1e-12  # a slope that is no larger is one of rounding
Matrices = Mapping[str, Float[np.ndarray, "rows columns"]]
RunNumber = Callable[[Trace, Trace], Tensor]  # of a run and of the one that its puzzle begins with: one number


@dataclass(frozen=True)
class Bound:
    """A number of a run that must be at least so large (least), or at most."""

    name: str
    number: RunNumber
    limit: float
    least: bool = True


@dataclass(frozen=True)
class BoundReading:
    """How large the number of a bound is."""

    bound: Bound
    value: float

    @property
    def holds(self) -> bool:
        """Whether it keeps to its limit; a number that is none does not."""
        return self.value >= self.bound.limit if self.bound.least else self.value <= self.bound.limit


@dataclass(frozen=True, eq=False)
class Puzzle:
    """What is given, what may be changed, and what must come of it.

    parts: of the Setup that it begins with, as plain values; twins: those that differ with the language of its words.
    open: the matrices that may be changed, each with its first column and the one behind its last. goal: what must be
    reached; bounds: what must be true besides. heads: those whose weights change; asks: the query that the goal is
    about, where it is one. cast: the words that its texts name, by their places. flips: only signs may be changed.
    solution: one of those that there are, as `written` writes it.
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
        """The parts of the Setup that it begins with, in one of its languages."""
        return {**self.parts, **self.twins[language]}


# ---- what was changed, as a text -------------------------------------------------------------------------------------
def format_changes(matrices: Matrices, start: Matrices) -> str:
    """The numbers that differ, "matrix~row.column=number;...,matrix~..."; `changed` reads it back.

    >>> format_changes({"w_q": np.array([[1.0, 2.5]])}, {"w_q": np.zeros((1, 2))})
    'w_q~0.0=1;0.1=2.5'
    """
    parts = []
    for name, matrix in matrices.items():
        places = changed_places(matrix, start[name])
        cells = (f"{row}.{column}={shortest_decimal(matrix[row, column].item())}" for row, column in places)
        parts += [f"{name}~{';'.join(cells)}"] if places else []
    return ",".join(parts)


def read_changes(puzzle: Puzzle, text: str, start: Matrices) -> dict[str, np.ndarray]:
    """The matrices that may be changed as a text says them. start: as the puzzle begins.

    Raises AttentionError: edit_form and the refusals of a number as from_short_text; puzzle_closed for a number that
    may not be changed, too_large beyond LARGEST.

    >>> from attention_core.exercises.puzzles import PUZZLES
    >>> read_changes(PUZZLES["even"], "w_k~0.1=1", {"w_k": np.array([[1.0, -1.0]])})["w_k"]
    array([[1., 1.]])
    """
    matrices = {name: start[name] for name in puzzle.open}
    for part in text.split(",") if text else ():
        name, mark, cells = part.partition("~")
        if name not in matrices or not mark:
            raise AttentionError("edit_form", name=", ".join(puzzle.open), given=part[:20])
        matrices[name] = from_short_text(f"~{cells}", start[name], name)
        check_change(puzzle, name, matrices[name], start[name])
    return matrices


def check_change(puzzle: Puzzle, name: str, matrix: np.ndarray, start: np.ndarray) -> None:
    """Raises AttentionError where a number was changed that may not be, or into one beyond LARGEST."""
    first, behind = puzzle.open.get(name, (0, 0))
    for row, column in changed_places(matrix, start):
        place = {"name": name, "row": row + 1, "column": column + 1, "given": format_exact(matrix[row, column])}
        if not first <= column < behind:
            raise AttentionError("puzzle_closed", expected=format_exact(start[row, column]), **place)
        if not abs(matrix[row, column]) <= MAX_TYPED_MAGNITUDE:
            raise AttentionError("too_large", limit=MAX_TYPED_MAGNITUDE, **place)


# ---- is it solved? ---------------------------------------------------------------------------------------------------
def judge_run(puzzle: Puzzle, trace: Trace, start: Trace) -> list[BoundReading]:
    """The goal and then what must be true besides, each with its number; all of them hold where it is solved.

    trace: the run with the changed numbers; start: the one that the puzzle begins with. Raises AttentionError where
    something else was changed: puzzle_other, and those of `check`.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> from attention_core.exercises.puzzles import PUZZLES
    >>> start = EXAMPLES["en_colour"].run()
    >>> [reading.holds for reading in judge_run(PUZZLES["next"], start, start)]
    [False, True, True]
    """
    check_run(puzzle, trace, start)
    return [BoundReading(bound, float(bound.number(trace, start))) for bound in (puzzle.goal, *puzzle.bounds)]


def is_solved(readings: list[BoundReading]) -> bool:
    """Whether everything holds."""
    return all(reading.holds for reading in readings)


def check_run(puzzle: Puzzle, trace: Trace, start: Trace) -> None:
    """Raises AttentionError where two runs differ in something that may not be changed."""
    for name in dict.fromkeys((*start.steps, *trace.steps)):
        here, there = trace.steps.get(name), start.steps.get(name)
        alike = here is not None and there is not None and here.value.shape == there.value.shape
        if not alike or (here.operation is None) != (there.operation is None):
            raise AttentionError("puzzle_other", choices=", ".join(puzzle.open), name=name)
        if here.operation is None and name in puzzle.open:
            check_change(puzzle, name, here.window(), there.window())
        elif here.operation is None:
            alike = torch.equal(here.value, there.value)
        else:
            own, first = here.operation, there.operation
            alike = (own.faces, own.reads, dict(own.params)) == (first.faces, first.reads, dict(first.params))
        if not alike:
            raise AttentionError("puzzle_other", choices=", ".join(puzzle.open), name=name)


# ---- which change helps most? ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Hint:
    """The number that is worth a change: where it stands, and its slope, below 0 where it should fall."""

    name: str
    row: int
    column: int
    slope: float


def goal_slopes(puzzle: Puzzle, trace: Trace, start: Trace) -> dict[str, Float[np.ndarray, "rows columns"]]:
    r"""How fast the goal comes nearer as each number of the matrices grows: $\pm\partial \ln m / \partial w$.

    m is the goal's number, + where it must grow, - where it must fall. The logarithm, because a share near 0 or 1 has
    hardly a slope itself: a slope of 2 says that m becomes 2 % larger (smaller) where the number grows by .01. The
    gradient is torch's, back through the operations of the run, in float64. NaN or infinite where m is 0.

    trace, start: as for judge. Numbers that may not be changed have a slope too; `steepest` leaves them out.
    """
    with torch.inference_mode(False), torch.enable_grad():
        given = {name: step.value.detach().clone() for name, step in trace.inputs().items()}
        for name in puzzle.open:
            given[name] = given[name].double().requires_grad_()
        again = trace.holding(rerun(trace, theirs=given))
        nearer = puzzle.goal.number(again, start).log() * (1 if puzzle.goal.least else -1)
        found = torch.autograd.grad(nearer, [given[name] for name in puzzle.open], materialize_grads=True)
    return {name: slope.numpy() for name, slope in zip(puzzle.open, found, strict=True)}


def find_hint(puzzle: Puzzle, trace: Trace, found: Matrices) -> Hint | None:
    """The number with the largest slope among those that may be changed; where only signs may be, the one whose other
    sign promises most: its slope times -2 w. None where no number promises anything, or a slope is no number.

    found: as `slopes` gives them, of the same run.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> from attention_core.exercises.puzzles import PUZZLES
    >>> start = EXAMPLES["en_colour"].run()
    >>> hint = find_hint(PUZZLES["next"], start, goal_slopes(PUZZLES["next"], start, start))
    >>> hint.name, hint.row, hint.column, hint.slope > 0
    ('w_q', 3, 0, True)
    """
    best, most = None, FLAT_SLOPE
    for name, (first, behind) in puzzle.open.items():
        slope = found[name][:, first:behind]
        gain = slope * -2 * trace.step(name).window()[:, first:behind] if puzzle.flips else np.abs(slope)
        if not np.isfinite(gain).all():
            return None
        row, column = np.unravel_index(gain.argmax(), gain.shape)
        if gain[row, column] > most:
            most = gain[row, column]
            best = Hint(name, int(row), first + int(column), float(slope[row, column]))
    return best
