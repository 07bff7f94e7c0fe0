"""Shows the flow, the animated picture of how attention computes one query's output: its data, selection and events."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from attention_core import Trace
from attention_core.explanation.shown_steps import explain_shown
from attention_core.inputs.matrix_text import MAX_MAGNITUDE
from pages import components
from pages.panels.arithmetic import format_cell_number, list_sources, make_piece_data, make_trail_data
from pages.panels.flow_data import Showing, make_flow_data
from pages.panels.flow_numbers import is_too_large
from pages.panels.flow_plane import CONTROL, take_release, temperature_bounds
from pages.panels.flow_words import make_fact
from pages.panels.model_rail import open_layer
from pages.panels.read_heads import READING, take_reading, take_side
from pages.panels.setup_controls import show_refusal
from pages.panels.typed_cells import make_refusal_data, take_typed_cell
from pages.panels.word_roles import take_role
from pages.runs.cache import trace_for
from pages.session import setup_history, setup_state
from pages.session.cell_clicks import open_sent_cell
from pages.session.collected import show_moving
from pages.session.fragments import holds_back, page_part, redraw, select_and_redraw
from pages.session.labels import chosen_cell, current_palette, describe_cell, name_token
from pages.session.view import ScreenState, current_screen
from pages.site.words import say


# ---- the picture -----------------------------------------------------------------------------------------------------
def flow_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the flow picture's data depend: the run, and the selected sentence of a batch.

    The whole selection is included only if the run is cut to it; otherwise the browser needs no new data for it.
    """
    looked = screen.selection if is_too_large(screen.trace) else screen.selection.batch
    shown = (screen.times, screen.setup.view.maps, screen.setup.view.side, screen.setup.comparison.run_a, looked)
    return (screen.setup.run, setup_state.setup_before(), *shown, current_palette().ground)


@page_part(flow_dependencies)
def show_flow(screen: ScreenState) -> None:
    """Draws the animation of how the selected head computes the output of the selected query."""
    components.flow(data=make_flow_data(screen, make_look(screen)), key="flow")


def show_journey(screen: ScreenState, showing: Showing, step: str | None = None, order: int = 0) -> None:
    """Draws the animation of a query, without sending the visitor's selection to the server.

    step: the step to show as a matrix instead; None for the animation. order: a count; if it is larger than before, a
    browser that shows a later keyframe starts over.
    """
    show_moving(components.flow, make_journey_data(screen, showing, step, order), answers=True, key="flow")


def make_journey_data(
    screen: ScreenState, showing: Showing, step: str | None = None, order: int = 0, stop: str | None = None
) -> bytes:
    """Returns the data of the animation of a query.

    step: the step to show as a matrix instead; None for the animation. order: a count; if it is larger than before, a
    browser that shows a later keyframe starts over. stop: the view that the picture shows instead, such as "heads".
    """
    selection = screen.selection
    place = {"batch": selection.batch, "head": selection.head, "query": selection.query}
    look = {**place, "step": step, "stop": stop, "cell": None, "order": order}
    return make_flow_data(screen, look, showing)


# ---- the selection ---------------------------------------------------------------------------------------------------
# names of keyframes without a step, of the view of all heads, and of the view for dragging
RESTS = ("start", "end", "heads", "plane")

# name of the view of all heads with a second head, such as "heads-2.1"
HEADS_COMPARED = re.compile(r"heads-\d{1,3}(\.\d{1,3})?")


@dataclass
class LookOrder:
    """The selection (query, head, step, keyframe) on which browser and server last agreed.

    number: how often the server has changed it. A browser in which the visitor has selected something else in the
    meantime adopts the server's selection only if this count is new.
    """

    look: tuple = ()
    number: int = 0


def make_look(screen: ScreenState) -> dict:
    """Returns the server's selection as data for the browser: sentence, head, query, step, keyframe, cell, and count of
    changes.
    """
    selection, chosen = screen.selection, chosen_cell(screen.trace, screen.setup)
    step = screen.setup.view.step if screen.setup.view.step in screen.trace else None
    look = (selection.batch, selection.head, selection.query, step, screen.setup.view.stop, chosen and chosen.index)
    order = st.session_state.setdefault("look_order", LookOrder())
    if order.look != look:
        order.look, order.number = look, order.number + 1
    batch, head, query, *_ = look
    return {
        "batch": batch,
        "head": head,
        "query": query,
        "step": step,
        "stop": screen.setup.view.stop,
        "cell": chosen and list(chosen.index),
        "order": order.number,
    }


def look_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the selection and the opened cell's arithmetic in the flow picture depend.

    These are the Setup and the selection, the trail of cells to the opened one, and whether the page hides parts until
    the visitor guesses.
    """
    return (screen.setup, screen.selection, holds_back(), *setup_state.get_trail())


@page_part(look_dependencies)
def show_look(screen: ScreenState) -> None:
    """Sends the selection and the opened cell's arithmetic to the animated picture; handles the picture's events."""
    components.look(
        data={
            **make_look(screen),
            "fact": make_fact(screen),
            "sum": make_sum_data(screen),
            "refused": make_refusal_data(),
            "language": say("app.tag"),
            "awaits": holds_back(),
        },
        key="look",
        given={
            "queries": lambda: count_places("T"),
            "heads": lambda: count_places("H"),
            "lowest": -MAX_MAGNITUDE,
            "highest": MAX_MAGNITUDE,
            "coolest": lambda: temperature_bounds(setup_state.current_setup())[0],
            "hottest": lambda: temperature_bounds(setup_state.current_setup())[1],
        },
        on_looked=take_look,
        on_released=take_release,
        on_opened=open_sent_cell,
        on_followed=lambda cell: open_sent_cell(cell, follow=True),
        on_role=take_role,
        on_typed=take_typed_cell,
        on_maps=take_reading,
        on_side=take_side,
        on_compared=lambda _: compare_with_before(),
    )
    show_refusal(CONTROL)
    show_refusal(READING)
    setup_state.write_setup_link()


def make_sum_data(screen: ScreenState) -> dict | None:
    """Returns the arithmetic ("sum") of the opened cell as data for the picture; None if no cell is open."""
    trace = screen.trace
    chosen = chosen_cell(trace, screen.setup)
    if chosen is None:
        return None
    explanation = explain_shown(trace, chosen.step, chosen.index)
    pieces = () if explanation.cell is None else explanation.pieces
    trail = setup_state.get_trail()[:-1]
    passed = [(step, cell) for step, cell in trail if cell and trace.holds(step, cell)]
    return {
        "title": f"{describe_cell(trace, chosen)} = {format_cell_number(trace, chosen)}",
        "trail": [make_trail_data(trace, step, cell) for step, cell in passed],
        "pieces": name_words(trace, [make_piece_data(trace, piece) for piece in pieces]),
        "sources": list_sources(pieces),
        "from": say("arithmetic.from"),
        "given": say("arithmetic.input"),
        "fold": say("flow.fold"),
    }


def name_words(trace: Trace, pieces: list[dict]) -> list[dict]:
    """Returns the pieces of a cell's arithmetic; an operand that belongs to one of several keys gets that key's word.

    Such operands are the scores in a softmax, and the weights in a sum of values.
    """
    places = {}
    for number, piece in enumerate(pieces):
        if "step" in piece and trace.step(piece["step"]).dims[-1] == "S":
            places[number] = piece["index"][-1]
    if len(set(places.values())) < 2:
        return pieces
    for number, place in places.items():
        pieces[number]["word"] = name_token(trace, "S", place)
    return pieces


# ---- event handlers --------------------------------------------------------------------------------------------------
def take_look(look: Mapping) -> None:
    """Stores the query, head, step or keyframe that the visitor selected in the picture, and closes the open cell.

    The head may belong to another layer of a language model.
    """
    query, head = look["query"], look["head"]
    trace = trace_for(setup_state.current_setup())
    stop = look["stop"]
    if stop is not None and stop not in trace and stop not in RESTS and not HEADS_COMPARED.fullmatch(stop):
        return
    if "layer" in look:
        open_layer(look["layer"], query, head, stop=stop)
        return
    step = look["step"]
    if step is None or step in trace:
        batch = current_screen().selection.batch
        # The browser shows this selection already; this prevents that it is sent back as a change by the server.
        st.session_state.setdefault("look_order", LookOrder()).look = (batch, head, query, step, stop, None)
        changes = {"token": query, "head": head, "step": step, "stop": stop, "cell": None}
        select_and_redraw(show_look.__name__, **changes)


def compare_with_before() -> None:
    """Shows the run before the last change as A beside the current run B."""
    setup_history.pin_setup_before()
    redraw()


def count_places(axis: str) -> int:
    """Returns the size of an axis of the run on the screen."""
    return trace_for(setup_state.current_setup()).sizes()[axis]
