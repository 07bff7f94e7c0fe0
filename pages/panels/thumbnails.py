"""Small maps in a row, the steps of a run or its heads: one of them is looked at, a click on another opens that one."""

from collections.abc import Callable

import streamlit as st

from attention_core import Trace
from attention_core.drawing.raster import MAX_SMALL_MAP_SIDE, SmallRaster, colour_table, small_raster
from pages import components
from pages.panels import canvas_map
from pages.runs.cache import cache_by_setup, trace_for
from pages.session import setup_state
from pages.session.cell_clicks import is_valid_index, open_cell
from pages.session.fragments import select_and_redraw
from pages.session.labels import current_palette, short_step_name
from pages.session.view import ScreenState
from pages.setup.setup import Setup, without_view
from pages.site.words import say

STEP_MAP_PX, NARROW_STEP_MAP_PX, HEAD_MAP_PX = 46, 34, 80  # pixels: the longer side of a small map
NAME_TEXT_PX = 13  # pixels: the text under a small map
MAX_STEPS_IN_LINE, MAX_NARROW_STEPS_IN_LINE = (
    15,
    18,
)  # steps in a line, and in one of narrow maps; of more, the scores begin a second line
MOVED_MARK = "Δ"  # under the name of a step whose numbers moved


# ---- steps -----------------------------------------------------------------------------------------------------------
def list_strip_steps(trace: Trace) -> list[str]:
    """The steps of the strip: the input of each sequence, then all that is computed, as far as it is a matrix."""
    inputs = [
        name for name in ("x", "query", "key", "value", "q", "k", "v", "q_heads", "k_heads") if name in trace.inputs()
    ]
    steps = inputs + [name for name, step in trace.computed().items() if len(step.dims) > 1]
    given = [name for name in ("allowed_custom", "allowed") if name in trace.inputs()]
    first = next(n for n, name in enumerate(steps) if name.startswith("allowed") or name == "masked_scores")
    return steps[:first] + given + steps[first:]


def show_strip(scene: ScreenState) -> None:
    """All steps in order; those that the last change moved are marked."""
    steps, moved = list_strip_steps(scene.trace), {*scene.moved, *scene.new, *scene.reshaped}
    second = (
        next((step for step in steps if step in ("hidden", "scores")), None)
        if len(steps) > MAX_NARROW_STEPS_IN_LINE
        else None
    )
    side = NARROW_STEP_MAP_PX if MAX_STEPS_IN_LINE < len(steps) <= MAX_NARROW_STEPS_IN_LINE else STEP_MAP_PX
    row = []
    for step, drawn in zip(steps, make_small_maps(scene, [(step, scene.look.at) for step in steps], side), strict=True):
        row.append(
            {
                "opens": step,
                "name": mark_moved(short_step_name(step), step in moved),
                "title": f"{step} · {describe_shape(scene.trace, step, drawn)}",
                "chosen": step == scene.setup.step,
                "breaks": step == second,
                "map": drawn,
            }
        )
    show_small_maps("strip", side, 2, row, open_step)


def mark_moved(name: str, moved: bool) -> str:
    """A step's name in at most two lines, with the mark of a change.

    >>> mark_moved("scores", True), mark_moved("sine\\ntable", True), mark_moved("scores", False)
    ('scores\\nΔ', 'sine\\ntable Δ', 'scores')
    """
    return name + ("" if not moved else f" {MOVED_MARK}" if "\n" in name else f"\n{MOVED_MARK}")


def describe_shape(trace: Trace, step: str, drawn: SmallRaster) -> str:
    """The shape of a step, and what of it a small map leaves out."""
    every = "" if drawn.every == (1, 1) else f" (1 : {drawn.every[0]}, 1 : {drawn.every[1]})"
    return " × ".join(map(str, trace[step].shape)) + every


def open_step(step: object) -> None:
    """Opens the step that a browser names, where there is one."""
    if isinstance(step, str) and step in trace_for(setup_state.current_setup()):
        open_cell(step, None)


# ---- heads -----------------------------------------------------------------------------------------------------------
def show_all_heads(scene: ScreenState) -> None:
    """The weights of every head; a click makes one the large map."""
    row, places = [], [("weights", scene.look.at | {"H": head}) for head in range(scene.trace.sizes()["H"])]
    for head, drawn in enumerate(make_small_maps(scene, places, MAX_SMALL_MAP_SIDE)):
        name = say("place.head", number=head + 1)
        row.append(
            {
                "opens": head,
                "name": name,
                "title": name,
                "chosen": head == scene.look.head,
                "breaks": False,
                "map": drawn,
            }
        )
    with st.container(gap=None):
        st.markdown(say("heads.all", count=len(row)))
        show_small_maps("heads", HEAD_MAP_PX, 1, row, select_head, canvas_map.describe_thinning(drawn.every))


def select_head(head: object) -> None:
    """Looks at the head that a browser names, where there is one."""
    if is_valid_index(head, trace_for(setup_state.current_setup()).sizes()["H"]):
        select_and_redraw(head=head, cell=None)


# ---- the maps of a row -----------------------------------------------------------------------------------------------
def make_small_maps(scene: ScreenState, places: list[tuple[str, dict[str, int]]], most: int) -> tuple[SmallRaster, ...]:
    """Of each step the matrix at a position, drawn small."""
    before = setup_state.setup_before() if scene.shows_difference else None
    there = tuple((step, tuple(scene.drawn(step).step(step).leading(at).items())) for step, at in places)
    return cached_small_maps(
        without_view(scene.setup), before and without_view(before), there, scene.times, most, scene.drawn
    )


@cache_by_setup
def cached_small_maps(
    setup: Setup, before: Setup | None, places: tuple, times: bool, most: int, _drawn: Callable[[str], Trace]
) -> tuple[SmallRaster, ...]:
    return tuple(small_raster(_drawn(step), step, dict(at), times, most) for step, at in places)


# ---- a row of them ---------------------------------------------------------------------------------------------------
def show_small_maps(
    key: str,
    side: int,
    lines: int,
    row: list[dict],
    take: Callable[[object], None],
    note: str = "",
    text: int = NAME_TEXT_PX,
) -> None:
    """row: what is told of each map, and the "map" itself; lines: of a name, and how large its text is; take: what is
    done with what a clicked one "opens"."""
    told = [{**each, "map": each["map"].drawn, "scale": "share" if each["map"].is_share else "signed"} for each in row]
    data = {
        "label": say(f"{key}.alt"),
        "note": note,
        "side": side,
        "lines": lines,
        "text": text,
        "palette": vars(current_palette()),
        "fills": {
            "share": colour_table(True, current_palette())[0],
            "signed": colour_table(False, current_palette())[0],
        },
        "maps": told,
        "cells": b"".join(each["map"].cells for each in row),
    }
    components.thumbnails(
        data=components.pack_bytes(data), key=key, on_opened_change=lambda: take(st.session_state[key].opened)
    )
