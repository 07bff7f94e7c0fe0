"""The cell that is opened under a picture: what the link says of it, and what a click on another one does."""

from collections.abc import Callable, Collection, Iterator, Mapping

import streamlit as st

from attention_core import Trace
from attention_core.record.expressions import Ref
from pages.panels import lesson_choices
from pages.panels.arithmetic import StepCell
from pages.panels.chart import CELL_INDEX_PATTERN

OPENED_CELL_KEY = "cell"  # in the link: which number of which run in which picture is opened
TRAIL_KEY = "followed"  # in the session: a picture, a run, and the cells through which a number was followed there
RunsByName = Mapping[str, Trace]  # the runs that a picture shows, by name; where it is one alone, its name is ""
CellHandler = Callable[[str, Ref], None]  # what is done with a run's cell


class FoundRuns(Mapping[str, Trace]):
    """Large runs by name, each found when it is asked for, where a cell is opened: a widget keeps what it calls, and
    that keeps none of them."""

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
    """Reads "hero,bare,weights,0,0,5,3" as a picture, a run, a step and a cell."""
    picture, run, step, place = text.split(",", 3)
    if not CELL_INDEX_PATTERN.fullmatch(place):
        raise ValueError(text)
    numbers = place.split(",")
    index = tuple(map(int, numbers))
    return picture, run, step, index


def get_opened_cell(picture: str, runs: RunsByName) -> tuple[str, Ref] | None:
    """The cell that is opened under a picture, behind the name of its run; None where no run has it."""
    nothing = ("", "", "", ())
    opened_in, run, step, index = lesson_choices.get_choice(OPENED_CELL_KEY, nothing, read_opened_cell)
    if opened_in != picture or run not in runs:
        return None
    if not runs[run].holds(step, index):
        return None
    return run, Ref(step, index)


def get_opened_ref(picture: str, trace: Trace) -> Ref | None:
    """The cell that is opened under a picture of one run."""
    opened = get_opened_cell(picture, {"": trace})
    return None if opened is None else opened[1]


def toggle_opened_cell(picture: str, run: str, cell: Ref) -> None:
    """Opens a cell, or closes it where it was open."""
    clicked = (picture, run, cell.step, cell.index)
    opened = lesson_choices.get_choice(OPENED_CELL_KEY, (), read_opened_cell)
    now_open = None if opened == clicked else clicked
    lesson_choices.store_choice(OPENED_CELL_KEY, now_open)
    st.session_state[TRAIL_KEY] = None


def handle_picture_click(picture: str, runs: RunsByName, sent: Mapping, on_click: CellHandler | None = None) -> None:
    """Opens the cell of a picture that was clicked, {"step": "bare:weights", "index"}; closes it where it was open.

    on_click: is called with the cell, too."""
    run, _, step = sent["step"].rpartition(":")
    cell = Ref(step, sent["index"])
    if run not in runs or not runs[run].holds(cell.step, cell.index):
        return
    toggle_opened_cell(picture, run, cell)
    if on_click:
        on_click(run, cell)


def handle_operand_click(picture: str, run: str, trace: Trace, trail: list[StepCell], sent: Mapping) -> None:
    """Opens an operand that was clicked, {"step", "index"}, or a cell of the way back, where the run has it."""
    clicked = (sent["step"], sent["index"])
    if not trace.holds(*clicked):
        return
    passed = trail[: trail.index(clicked)] if clicked in trail else trail
    st.session_state[TRAIL_KEY] = (picture, run, [*passed, clicked])
    lesson_choices.store_choice(OPENED_CELL_KEY, (picture, run, *clicked))


def get_trail_to(picture: str, run: str, cell: Ref) -> list[StepCell]:
    """The cells through which a number was followed to the one that is open, which is the last."""
    opened = (cell.step, cell.index)
    followed = st.session_state.get(TRAIL_KEY)
    if followed is None:
        return [opened]
    followed_in, followed_run, trail = followed
    is_current = (followed_in, followed_run) == (picture, run) and trail[-1] == opened
    return trail if is_current else [opened]
