"""The state of the puzzle page: the chosen puzzle, the visitor's numbers, and the solved puzzles.

The link contains the chosen puzzle and its changed numbers; the session stores the changed numbers of all other
puzzles.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import streamlit as st

from attention_core import Trace
from attention_core.exercises.puzzle import (
    BoundReading,
    Matrices,
    Puzzle,
    count_changes,
    format_changes,
    is_solved,
    judge_run,
    read_changes,
)
from attention_core.exercises.puzzles import PUZZLES
from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.record.errors import AttentionError
from pages.panels import lesson_choices
from pages.panels.link_controls import link_control
from pages.panels.typed_cells import apply_typed_cells
from pages.runs.cache import inputs_of, trace_for
from pages.session.cell_clicks import read_typed_cells
from pages.setup.link_values import make_member_reader
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language

NUMBERS_KEY = "numbers"  # link key of the numbers that the visitor changed, in the format of `format_changes`
FIRST_PUZZLE = next(iter(PUZZLES))


@dataclass(frozen=True, eq=False)
class PlayedPuzzle:
    """A puzzle with the visitor's numbers.

    start, matrices: the puzzle's matrices at the start, and now. before, trace: the runs with `start` and with
    `matrices`. setup: the Setup of `trace`. readings: the present values of the goal and of the further conditions.
    """

    puzzle: Puzzle
    start: Matrices
    matrices: Matrices
    setup: Setup
    trace: Trace
    before: Trace
    readings: list[BoundReading]

    @property
    def solved(self) -> bool:
        """Whether the goal and all conditions are met."""
        return is_solved(self.readings)

    @property
    def changed(self) -> int:
        """The number of numbers that differ from the start."""
        return count_changes(self.matrices, self.start)

    @property
    def fewest(self) -> int:
        """The least number of changes known to solve the puzzle: that of its stored solution."""
        return count_changes(read_changes(self.puzzle, self.puzzle.solution, self.start), self.start)


def current_puzzle() -> Puzzle:
    """Returns the chosen puzzle."""
    name = lesson_choices.get_choice("puzzle", FIRST_PUZZLE, make_member_reader(PUZZLES))
    return PUZZLES[name]


def load_played_puzzle() -> PlayedPuzzle:
    """Returns the chosen puzzle with the visitor's numbers, its run, and the values of its goal and conditions.

    If the visitor has solved the puzzle, and its solution was not shown, records it as solved.
    """
    puzzle = current_puzzle()
    begin, start, matrices = read_puzzle_matrices(puzzle)
    bases = inputs_of(begin).bases
    edits = {}
    for name, matrix in matrices.items():
        if (matrix != start[name]).any():
            edits[name] = shorten_matrix(matrix, bases[name], name)
    setup = begin.with_fields(**edits)
    trace = trace_for(setup)
    before = trace_for(begin)
    played = PlayedPuzzle(
        puzzle,
        start,
        matrices,
        setup,
        trace,
        before,
        readings=judge_run(puzzle, trace, before),
    )
    if played.solved and puzzle.name not in remembered_puzzles("puzzles_shown"):
        remembered_puzzles("puzzles_solved").add(puzzle.name)
    return played


def read_puzzle_matrices(puzzle: Puzzle) -> tuple[Setup, Matrices, Matrices]:
    """Returns the Setup with which a puzzle starts, the puzzle's matrices, and these with the visitor's changes."""
    begin = make_setup(**puzzle.start(current_language()))
    matrices = inputs_of(begin).matrices
    start = {name: matrices[name] for name in puzzle.open}
    control = link_control(NUMBERS_KEY, "", make_numbers_reader(puzzle, start))
    return begin, start, read_changes(puzzle, control.value, start)


def make_numbers_reader(puzzle: Puzzle, start: Matrices) -> Callable[[str], str]:
    """Returns a function that checks the changed numbers in a link, and returns them as `format_changes` does."""

    def read(text: str) -> str:
        changed = read_changes(puzzle, text, start)
        return format_changes(changed, start)

    return read


def remembered_puzzles(name: str) -> set[str]:
    """Returns the set of puzzle names that the session stores under a key, such as the solved puzzles.

    Names that the caller adds to this set are stored, too, because it is the session's own.
    """
    return st.session_state.setdefault(name, set())


# ---- handlers --------------------------------------------------------------------------------------------------------
def take_typed_numbers(name: str, typed: Iterable[Mapping]) -> None:
    """Stores the numbers that the visitor typed into a matrix, or the error if they are refused.

    name: the name of the matrix. typed: [{"row", "column", "text"}, ...].
    """
    puzzle = current_puzzle()
    _, start, matrices = read_puzzle_matrices(puzzle)
    if name not in puzzle.open:
        return
    first, behind = puzzle.open[name]
    try:
        cells = read_typed_cells(typed, len(start[name]), behind - first, name)
    except AttentionError as error:
        lesson_choices.current_lesson_choices().refuse(NUMBERS_KEY, error)
        return
    wanted, refusal = apply_typed_cells(matrices[name], cells, (0, first), name)
    changes = format_changes({**matrices, name: wanted}, start)
    link_control(NUMBERS_KEY, "", make_numbers_reader(puzzle, start)).take(changes)
    if refusal is not None:
        lesson_choices.current_lesson_choices().refuse(NUMBERS_KEY, refusal)


def put_numbers(text: str | None) -> None:
    """Replaces all numbers that the visitor changed by those in a text; None resets the puzzle."""
    choices = lesson_choices.current_lesson_choices()
    choices.forget_refusals(NUMBERS_KEY)
    choices.forget_trouble()
    lesson_choices.store_choice(NUMBERS_KEY, text or None)
    renew_puzzle_cells()


def show_solution() -> None:
    """Replaces the visitor's numbers by those of the solution, and records that the solution was shown."""
    remembered_puzzles("puzzles_shown").add(current_puzzle().name)
    put_numbers(current_puzzle().solution)


def go_to_puzzle(name: str | None) -> None:
    """Opens another puzzle with the numbers that the visitor left in it.

    An unknown name is ignored, because a browser may send any name.
    """
    current = current_puzzle().name
    if name not in PUZZLES or name == current:
        return
    chosen = lesson_choices.current_lesson_choices().chosen
    waiting = st.session_state.setdefault("puzzles_waiting", {})
    waiting[current] = chosen.get(NUMBERS_KEY)
    lesson_choices.store_choice("puzzle", None if name == FIRST_PUZZLE else name)
    lesson_choices.store_choice("cell", None)
    put_numbers(waiting.get(name))


def neighbour_puzzle(name: str, step: int) -> str | None:
    """Returns the name of the puzzle before (-1) or after (1) a given puzzle; None at either end."""
    names = [*PUZZLES]
    place = names.index(name) + step
    if 0 <= place < len(names):
        return names[place]
    return None


def next_unsolved_puzzle(name: str) -> str | None:
    """Returns the first unsolved puzzle after a given one, in a circle; None if all others are solved."""
    names = [*PUZZLES]
    behind = names.index(name) + 1
    others = (*names[behind:], *names[: behind - 1])
    solved = remembered_puzzles("puzzles_solved")
    unsolved = (other for other in others if other not in solved)
    return next(unsolved, None)


def follow_arrow_key_to_puzzle() -> None:
    """Opens the previous or the next puzzle if the visitor pressed an arrow key."""
    step = st.session_state.pop("way", None)
    go_to_puzzle(step and neighbour_puzzle(current_puzzle().name, step))


def puzzle_version() -> int:
    """Returns the version of the input cells, a counter; when it grows, the browser discards typed text."""
    return st.session_state.get("puzzles_version", 0)


def renew_puzzle_cells() -> None:
    """Makes the browser's input cells discard typed text and show the current numbers."""
    st.session_state["puzzles_version"] = puzzle_version() + 1
