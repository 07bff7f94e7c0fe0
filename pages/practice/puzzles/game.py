"""A puzzle as it is played: which one, its numbers as the reader has them, and what of it is solved.

The link says the puzzle and the numbers that were changed; the numbers of the others wait in the session.
"""

from dataclasses import dataclass, replace

import streamlit as st

from attention_core import Trace
from attention_core.exercises.puzzle import Matrices, Puzzle, Reading, changed, judge, solved, written
from attention_core.exercises.puzzles import PUZZLES
from attention_core.inputs.matrix_edits import short_text
from pages.panels import link_controls
from pages.runs.cache import material_of, trace_of
from pages.session.cell_clicks import typed_cells
from pages.setup.setup import Setup, member
from pages.site.words import language
from pages.workbench.matrix_editors import typed_into

NUMBERS = "numbers"  # in the link: what was changed, as `written` writes it
FIRST = next(iter(PUZZLES))


@dataclass(frozen=True, eq=False)
class Play:
    """A puzzle with the reader's numbers.

    start: its matrices as it begins; matrices: as they are. setup, trace: the run with them; before: the one that it
    begins with. readings: the goal, and what must be true besides."""

    puzzle: Puzzle
    start: Matrices
    matrices: Matrices
    setup: Setup
    trace: Trace
    before: Trace
    readings: list[Reading]

    @property
    def solved(self) -> bool:
        """Whether all of it holds."""
        return solved(self.readings)


def chosen() -> Puzzle:
    """The puzzle that is played."""
    return PUZZLES[link_controls.choice("puzzle", FIRST, member(PUZZLES))]


def play() -> Play:
    """The chosen puzzle with the reader's numbers, judged; once the reader has solved it, that is remembered."""
    puzzle = chosen()
    begin, start, matrices = at_hand(puzzle)
    bases = material_of(begin).bases
    edited = {name: matrix for name, matrix in matrices.items() if (matrix != start[name]).any()}
    setup = replace(begin, **{name: short_text(matrix, bases[name], name) for name, matrix in edited.items()})
    trace, before = trace_of(setup), trace_of(begin)
    played = Play(puzzle, start, matrices, setup, trace, before, judge(puzzle, trace, before))
    if played.solved and puzzle.name not in kept("puzzles_shown"):
        kept("puzzles_solved").add(puzzle.name)
    return played


def at_hand(puzzle: Puzzle) -> tuple[Setup, Matrices, Matrices]:
    """What a puzzle begins with, its matrices then, and as they are."""
    begin = Setup(**puzzle.start(language()))
    material = material_of(begin)
    start = {name: material.matrices[name] for name in puzzle.open}
    return begin, start, changed(puzzle, link_controls.choice(NUMBERS, "", reader(puzzle, start)), start)


def reader(puzzle: Puzzle, start: Matrices):
    """A reader of changed numbers: as they would be written."""
    return lambda text: written(changed(puzzle, text, start), start)


def kept(name: str) -> set[str]:
    """The puzzles of which the session remembers something."""
    return st.session_state.setdefault(name, set())


# ---- what a reader does ----------------------------------------------------------------------------------------------
def type_into(name: str, typed: object) -> None:
    """Takes what was typed into cells of a matrix, [{"row", "column", "text"}, ...] as a browser sends it, or keeps why
    it cannot be; cells that the matrix does not have are left out."""
    puzzle = chosen()
    _, start, matrices = at_hand(puzzle)
    if name not in puzzle.open:
        return
    first, behind = puzzle.open[name]
    found = typed_cells(typed, len(start[name]), len(range(first, behind)))
    wanted, error = typed_into(matrices[name], found, (0, first), name)
    link_controls.take(NUMBERS, written({**matrices, name: wanted}, start), "", reader(puzzle, start))
    if error is not None:
        link_controls.kept().refused[NUMBERS] = error
    if NUMBERS in link_controls.kept().refused:
        renew()  # the cell shows its number again


def put(text: str | None) -> None:
    """Other numbers at once: a solution, or those at the start."""
    link_controls.kept().refused.pop(NUMBERS, None)
    link_controls.kept().unread.clear()
    link_controls.keep(NUMBERS, text or None)
    renew()


def show_solution() -> None:
    """Puts a solution into the cells: it is seen, not found."""
    kept("puzzles_shown").add(chosen().name)
    put(chosen().solution)


def go(name: str | None) -> None:
    """Goes to another puzzle, which is as it was left; a browser may name anything."""
    if name not in PUZZLES or name == chosen().name:
        return
    waiting = st.session_state.setdefault("puzzles_waiting", {})
    waiting[chosen().name] = link_controls.kept().chosen.get(NUMBERS)
    link_controls.keep("puzzle", None if name == FIRST else name)
    link_controls.keep("cell", None)
    put(waiting.get(name))


def neighbour(name: str, step: int) -> str | None:
    """The puzzle before (-1) or after (1) one."""
    names = [*PUZZLES]
    at = names.index(name) + step
    return names[at] if 0 <= at < len(names) else None


def follow_key() -> None:
    """Goes where an arrow key pointed."""
    step = st.session_state.pop("way", None)
    go(step and neighbour(chosen().name, step))


def version() -> int:
    """What the cells are told, so that they forget what was typed."""
    return st.session_state.get("puzzles_version", 0)


def renew() -> None:
    """The cells show the numbers as they are."""
    st.session_state["puzzles_version"] = version() + 1
