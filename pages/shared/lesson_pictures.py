"""The pictures of a lesson: a click on a number opens its arithmetic under the picture, and leads on from there."""

from collections.abc import Mapping

import streamlit as st

from attention_core import Trace
from attention_core.cells import Ref
from attention_core.charts import MAP, Picture, head_map
from pages.shared import choices
from pages.shared.arithmetic_panel import Place, show_arithmetic
from pages.shared.panels import fact_sentence
from pages.shared.pictures import PLACE, chart
from pages.shared.places import Look, palette, words_for
from pages.shared.step_panel import step_picture
from pages.shared.words import say

CELL = "cell"  # in the link: which number of which run in which picture is opened
Runs = Mapping[str, Trace]  # the runs that a picture shows, by name; where it is one alone, its name is ""


def read_cell(text: str) -> tuple[str, str, str, tuple[int, ...]]:
    """ "hero,bare,weights,0,0,5,3" as a picture, a run, a step and a cell."""
    picture, run, step, place = text.split(",", 3)
    if not PLACE.fullmatch(place):
        raise ValueError(text)
    return picture, run, step, tuple(map(int, place.split(",")))


def opened_in(picture: str, runs: Runs) -> tuple[str, Ref] | None:
    """The cell that is opened under a picture, behind the name of its run, where that has it."""
    shown, run, step, index = choices.choice(CELL, ("", "", "", ()), read_cell)
    return (run, Ref(step, index)) if shown == picture and run in runs and runs[run].holds(step, index) else None


def show(name: str, picture: Picture, runs: Runs, alt: str) -> None:
    """A picture of some runs, and the arithmetic of the cell that is opened in it."""
    key = f"{choices.slug()}_{name}"
    chart(picture, key, alt, lambda place: clicked(name, runs, place))
    opened = opened_in(name, runs)
    if opened is None:
        return
    run, cell = opened
    trail = trail_to(name, run, cell)
    with st.container(border=True):
        show_arithmetic(
            runs[run], cell, trail[:-1], lambda place: follow(name, run, runs[run], place, trail), f"arithmetic_{key}"
        )


def show_step(name: str, trace: Trace, step: str, look: Look) -> None:
    """A step of a run as the workbench draws it: the matrix product that it is, or beside its operand."""
    opened = opened_in(name, {"": trace})
    picture = step_picture(trace, step, look.at, opened and opened[1])
    show(name, picture, {"": trace}, say("step.alt", step=step))


def show_map(name: str, trace: Trace, look: Look, title: str, wide: float = MAP) -> None:
    """The weights of the head that is looked at as a map, the query's row outlined."""
    opened = opened_in(name, {"": trace})
    axes, words = (say("corner.T"), say("corner.S")), words_for(trace)
    picture = head_map(
        trace, look.head, words, palette(), opened and opened[1], look.query, False, look.batch, axes, title, wide
    )
    show(name, picture, {"": trace}, f"{title}. {fact_sentence(trace, look, spell=str)}")


def clicked(name: str, runs: Runs, place: object) -> None:
    """A cell of a picture was clicked, {"step": "bare:weights", "index"}: it opens, or closes where it was open."""
    match place:
        case {"step": str(told), "index": [*index]}:
            run, _, step = told.rpartition(":")
            there = (name, run, step, tuple(index))
            if run in runs and runs[run].holds(step, tuple(index)):
                again = choices.choice(CELL, (), read_cell) == there
                choices.keep(CELL, None if again else there)
                st.session_state["followed"] = None


def follow(name: str, run: str, trace: Trace, place: object, trail: list[Place]) -> None:
    """An operand was clicked, or a cell of the way back; a browser may name anything."""
    match place:
        case {"step": str(step), "index": [*index]} if all(type(at) is int for at in index):
            there = (step, tuple(index))
            if trace.holds(*there):
                passed = trail[: trail.index(there)] if there in trail else trail
                st.session_state["followed"] = (name, run, [*passed, there])
                choices.keep(CELL, (name, run, *there))


def trail_to(name: str, run: str, cell: Ref) -> list[Place]:
    """The cells through which a number was followed to the one that is open."""
    here, followed = (cell.step, cell.index), st.session_state.get("followed")
    return followed[2] if followed and followed[:2] == (name, run) and followed[2][-1] == here else [here]
