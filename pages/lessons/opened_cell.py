"""Stores in the link which cell's arithmetic is shown under a picture, and handles clicks on cells."""

from collections.abc import Callable, Collection, Iterator, Mapping

import streamlit as st

from attention_core import Trace
from attention_core.record.expressions import Ref
from pages.panels import lesson_choices
from pages.panels.arithmetic import StepCell
from pages.panels.chart import CELL_INDEX_PATTERN

OPENED_CELL_KEY = "cell"  # link parameter with picture, run, step and index of the open cell
TRAIL_KEY = "followed"  # session key of (picture, run, cells that were clicked on the way to the open cell)
RunsByName = Mapping[str, Trace]  # name of a run -> a run that a picture shows; a single run has the name ""
CellHandler = Callable[[str, Ref], None]  # callback that gets the name of a run and a clicked cell


class FoundRuns(Mapping[str, Trace]):
    """A mapping from names to runs that computes a run at each access.

    `find` is the function that computes a run. A widget that keeps this mapping in memory keeps no run.
    """

    def __init__(self, names: Collection[str], find: Callable[[str], Trace]):
        self.names, self.find = names, find

    def __getitem__(self, name: str) -> Trace:
        if name not in self.names:
            raise KeyError(name)
        return self.find(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def read_opened_cell(text: str) -> tuple[str, str, str, tuple[int, ...]]:
    """Parses a text such as "hero,bare,weights,0,0,5,3" as picture, run, step and index.

    Raises ValueError for another format.
    """
    picture, run, step, place = text.split(",", 3)
    if not CELL_INDEX_PATTERN.fullmatch(place):
        raise ValueError(text)
    numbers = place.split(",")
    index = tuple(map(int, numbers))
    return picture, run, step, index


def get_opened_cell(picture: str, runs: RunsByName) -> tuple[str, Ref] | None:
    """Returns (name of the run, cell) of the cell that is open under a picture.

    Returns None if no cell is open, or if no run of the picture has the cell.
    """
    nothing = ("", "", "", ())
    opened_in, run, step, index = lesson_choices.get_choice(OPENED_CELL_KEY, nothing, read_opened_cell)
    if opened_in != picture or run not in runs:
        return None
    if not runs[run].holds(step, index):
        return None
    return run, Ref(step, index)


def get_opened_ref(picture: str, trace: Trace) -> Ref | None:
    """Returns the cell that is open under a picture of a single run; None if no cell is open."""
    opened = get_opened_cell(picture, {"": trace})
    return None if opened is None else opened[1]


def toggle_opened_cell(picture: str, run: str, cell: Ref) -> None:
    """Opens the arithmetic of a cell of a run under a picture; closes it if it is already open."""
    clicked = (picture, run, cell.step, cell.index)
    opened = lesson_choices.get_choice(OPENED_CELL_KEY, (), read_opened_cell)
    now_open = None if opened == clicked else clicked
    lesson_choices.store_choice(OPENED_CELL_KEY, now_open)
    st.session_state[TRAIL_KEY] = None


def handle_picture_click(picture: str, runs: RunsByName, sent: Mapping, on_click: CellHandler | None = None) -> None:
    """Opens the arithmetic of a clicked cell of a picture, or closes it if it is open.

    sent: {"step": run and step, such as "bare:weights", "index": index of the cell}, from the browser. on_click: a
    callback that gets the run's name and the cell afterwards.
    """
    run, _, step = sent["step"].rpartition(":")
    cell = Ref(step, sent["index"])
    if run not in runs or not runs[run].holds(cell.step, cell.index):
        return
    toggle_opened_cell(picture, run, cell)
    if on_click:
        on_click(run, cell)


def handle_operand_click(picture: str, run: str, trace: Trace, trail: list[StepCell], sent: Mapping) -> None:
    """Opens the cell of an operand of the arithmetic, or of the trail, that the visitor clicked, if the run has it.

    sent: {"step": its name, "index": index of the cell}, from the browser. trail: the cells that were clicked on the
    way to the open cell.
    """
    clicked = (sent["step"], sent["index"])
    if not trace.holds(*clicked):
        return
    passed = trail[: trail.index(clicked)] if clicked in trail else trail
    st.session_state[TRAIL_KEY] = (picture, run, [*passed, clicked])
    lesson_choices.store_choice(OPENED_CELL_KEY, (picture, run, *clicked))


def get_trail_to(picture: str, run: str, cell: Ref) -> list[StepCell]:
    """Returns the trail to a cell: the cells that were clicked one after another, the open cell last."""
    opened = (cell.step, cell.index)
    followed = st.session_state.get(TRAIL_KEY)
    if followed is None:
        return [opened]
    followed_in, followed_run, trail = followed
    is_current = (followed_in, followed_run) == (picture, run) and trail[-1] == opened
    return trail if is_current else [opened]
