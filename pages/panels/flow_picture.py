"""The flow of one query through the layer, as a picture that moves: what it shows, from a Trace."""

import hashlib
from dataclasses import replace

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.drawing.flow import (
    FlowPart,
    flow_parts,
    flow_stops,
    largest_numbers,
    part_family,
    part_sign,
    twin_steps,
)
from attention_core.explanation.arithmetic import explain
from attention_core.explanation.facts import accident, row_fact
from attention_core.explanation.head_habits import HeadHabit, head_habit
from attention_core.inputs.tokenizer import printable_token
from pages import components
from pages.panels.arithmetic import format_cell_number, make_piece_data, make_trail_data
from pages.panels.head_maps import fact_sentence, head_name
from pages.panels.setup_controls import try_change
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.cell_clicks import is_valid_index, open_sent_cell
from pages.session.fragments import select_and_redraw
from pages.session.labels import Selection, chosen_cell, current_palette, describe_cell, inline_step_name, name_token
from pages.session.view import ScreenState
from pages.site.words import get_text_template, say

MOTIONS = (
    *("place", "add", "ask", "turn", "meet", "match", "scale", "distance", "mask", "power", "share"),
    *("replace", "gather", "merge", "output", "change"),
)
STAGE_HEIGHT_PX = 440  # at 1280 px of width; it grows with the page


def show_flow(screen: ScreenState) -> None:
    """Shows the way of the query that is looked at, in its head."""
    components.flow(
        data=make_flow_data(screen),
        key="flow",
        on_looked_change=handle_look,
        on_changed_change=handle_changed_setting,
        on_opened_change=lambda: handle_opened_cell(st.session_state["flow"].opened),
        on_followed_change=lambda: open_sent_cell(st.session_state["flow"].followed, follow=True),
    )


def show_unfolded_sum(screen: ScreenState) -> None:
    """Hands the arithmetic of the opened cell to the picture."""
    components.unfolded(data=make_sum_data(screen), key="unfolded")


def make_sum_data(screen: ScreenState) -> dict:
    """The arithmetic of the opened cell; no step where none is open."""
    trace = screen.trace
    chosen = chosen_cell(trace, screen.setup)
    if chosen is None:
        return {"step": ""}
    explanation = explain(trace, chosen.step, chosen.index)
    pieces = () if explanation.cell is None else explanation.pieces
    passed = [(step, cell) for step, cell in setup_state.get_trail()[:-1] if cell and trace.holds(step, cell)]
    return {
        "step": chosen.step,
        "index": list(chosen.index),
        "title": f"{describe_cell(trace, chosen)} = {format_cell_number(trace, chosen)}",
        "trail": [make_trail_data(trace, step, cell) for step, cell in passed],
        "pieces": [make_piece_data(trace, piece) for piece in pieces],
        "given": say("arithmetic.input"),
        "fold": say("flow.fold"),
    }


def handle_opened_cell(place: object) -> None:
    """A cell was opened in the picture, or folded."""
    if place is None:
        select_and_redraw(step=None, cell=None)
    else:
        open_sent_cell(place)


def make_flow_data(screen: ScreenState) -> bytes:
    """All that the picture is drawn from, packed: parts, stops, numbers, words."""
    trace, selection = screen.trace, screen.selection
    parts = flow_parts(trace)
    steps, values = twin_steps(trace), []
    first = 0
    for name, described in steps.items():
        numbers = np.ascontiguousarray(trace.step(name).window(), dtype=np.float32)
        described["first"] = first
        values.append(numbers.tobytes())
        first += numbers.size
    content = b"".join(values)
    data = {
        "parts": [describe_part(trace, part) for part in parts],
        "stops": [vars(stop) for stop in flow_stops(parts)],
        "steps": steps,
        "largest": largest_numbers(trace, parts),
        "words": {axis: [printable_token(word) for word in trace.labels[axis]] for axis in ("T", "S")},
        "heads": trace.sizes()["H"],
        "crossed": screen.inputs.crossed,
        "sliders": [make_temperature_slider(screen)],
        "remarks": list_remarks(screen),
        "head_names": [describe_head(screen, head) for head in range(trace.sizes()["H"])],
        "look": {"batch": selection.batch, "head": selection.head, "query": selection.query, "view": "flow"},
        "height": STAGE_HEIGHT_PX,
        "palette": vars(current_palette()),
        "text": flow_text(),
    }
    data["digest"] = hashlib.sha256(content + repr(data).encode()).hexdigest()
    return components.pack_bytes({**data, "numbers": content})


def describe_part(trace: Trace, part: FlowPart) -> dict:
    """A part with its colour, and what stands over it."""
    return vars(part) | {
        "family": part_family(part),
        "sign": part_sign(trace, part),
        "label": inline_step_name(part.name),
    }


def describe_head(screen: ScreenState, head: int) -> dict[str, str]:
    """What a head is called, and what it does on this screen."""
    habit = head_habit(screen.trace, head, screen.selection.batch)
    return {"name": head_name(screen.setup, screen.inputs, head), "habit": say_habit(screen.trace, habit)}


def say_habit(trace: Trace, habit: HeadHabit) -> str:
    """What a head does, in a few words."""
    if habit.kind == "offset":
        return say_offset(habit.offset)
    if habit.kind == "key":
        return say("flow.habit.key", key=name_token(trace, "S", habit.key))
    pairs = []
    for query, key in habit.pairs:
        pair = say("flow.habit.pair", query=name_token(trace, "T", query), key=name_token(trace, "S", key))
        pairs.append(pair)
    return say(f"flow.habit.{habit.kind}", pairs=say("fact.comma").join(pairs))


TEMPERATURE_RANGE = (0.1, 10.0)  # of the slider; a link may say more


def make_temperature_slider(screen: ScreenState) -> dict:
    """The temperature: which step's parameter it is, and how far it goes."""
    least, most = TEMPERATURE_RANGE
    return {
        "field": "temperature",
        "label": say("control.temperature"),
        "least": least,
        "most": most,
        "value": screen.setup.temperature,
        "step": "scaled_scores",
        "parameter": "temperature",
    }


def handle_changed_setting() -> None:
    """A slider was let go."""
    match st.session_state["flow"].changed:
        case {"field": "temperature", "value": float() | int() as value}:
            try_change("temperature", temperature=float(value))


CLEAR_KINDS = ("most", "only")  # rows of which the headline says where they look
MAX_REMARKED_ROWS = 512  # of more rows only those of the head that is looked at


def list_remarks(screen: ScreenState) -> list[list[str | None]]:
    """What is said of each head's rows that do not look at one word, or of which nothing may be claimed."""
    trace, selection = screen.trace, screen.selection
    sizes = trace.sizes()
    are_few = sizes["H"] * sizes["T"] <= MAX_REMARKED_ROWS
    remarks = []
    for head in range(sizes["H"]):
        is_told = are_few or head == selection.head
        queries = range(sizes["T"]) if is_told else ()
        remarks.append([remark_on_row(trace, replace(selection, head=head, query=query)) for query in queries])
    return remarks


def remark_on_row(trace: Trace, selection: Selection) -> str | None:
    """What is said of a row in the place of where it looks; None where it may be said."""
    fact = row_fact(trace, selection.head, selection.query, selection.batch)
    if fact.kind in CLEAR_KINDS and accident(trace, fact) is None:
        return None
    return fact_sentence(trace, selection, spell=str)


NEAR_OFFSETS = {-1: "before", 0: "itself", 1: "after"}


def say_offset(offset: int) -> str:
    """How far from itself a head looks."""
    near = NEAR_OFFSETS.get(offset)
    if near:
        return say(f"flow.offset.{near}")
    return say("flow.habit.back" if offset < 0 else "flow.habit.on", count=abs(offset))


def flow_text() -> dict:
    """The words of the picture, with the places that the browser fills."""
    return {
        "headline": get_text_template("flow.headline"),
        "asks": say("flow.asks"),
        "rest": say("flow.rest"),
        "play": say("flow.play"),
        "pause": say("flow.pause"),
        "bar": say("flow.bar"),
        "keys": say("flow.keys"),
        "views": {view: say(f"flow.view.{view}") for view in ("flow", "map")},
        "names": {motion: say(f"flow.stop.{motion}") for motion in MOTIONS},
        "stops": {motion: get_text_template(f"flow.told.{motion}") for motion in MOTIONS},
    }


def handle_look() -> None:
    """Another query or head is looked at, as a browser says it."""
    match st.session_state["flow"].looked:
        case {"query": query, "head": head}:
            sizes = trace_for(setup_state.current_setup()).sizes()
            if is_valid_index(query, sizes["T"]) and is_valid_index(head, sizes["H"]):
                select_and_redraw(token=query, head=head, cell=None)
