"""Small maps in a row, the steps of a run or its heads: one of them is looked at, a click on another opens that one."""

from collections.abc import Callable

import streamlit as st

from attention_core import Trace
from attention_core.drawing.raster import MOST_SMALL, Small, colour_table, small
from pages import components
from pages.panels import canvas_map
from pages.runs.cache import kept, trace_of
from pages.session import setup_state
from pages.session.cell_clicks import open_cell, within
from pages.session.fragments import look_at
from pages.session.labels import palette, short_name
from pages.session.view import Scene
from pages.setup.setup import Setup, computed_part
from pages.site.words import say

STEP, NARROW, HEAD = 46, 34, 80  # pixels: the longer side of a small map
NAME = 13  # pixels: the text under a small map
IN_LINE, AT_MOST = 15, 18  # steps in a line, and in one of narrow maps; of more, the scores begin a second line
MOVED = "Δ"  # under the name of a step whose numbers moved


# ---- steps -----------------------------------------------------------------------------------------------------------
def steps_shown(trace: Trace) -> list[str]:
    """The steps of the strip: the input of each sequence, then all that is computed, as far as it is a matrix."""
    inputs = [
        name for name in ("x", "query", "key", "value", "q", "k", "v", "q_heads", "k_heads") if name in trace.inputs()
    ]
    steps = inputs + [name for name, step in trace.computed().items() if len(step.dims) > 1]
    given = [name for name in ("allowed_custom", "allowed") if name in trace.inputs()]
    first = next(n for n, name in enumerate(steps) if name.startswith("allowed") or name == "masked_scores")
    return steps[:first] + given + steps[first:]


def show_strip(scene: Scene) -> None:
    """All steps in order; those that the last change moved are marked."""
    steps, moved = steps_shown(scene.trace), {*scene.moved, *scene.new, *scene.reshaped}
    second = next((step for step in steps if step in ("hidden", "scores")), None) if len(steps) > AT_MOST else None
    side = NARROW if IN_LINE < len(steps) <= AT_MOST else STEP
    row = []
    for step, drawn in zip(steps, smalls(scene, [(step, scene.look.at) for step in steps], side), strict=True):
        row.append(
            {
                "opens": step,
                "name": marked(short_name(step), step in moved),
                "title": f"{step} · {size(scene.trace, step, drawn)}",
                "chosen": step == scene.setup.step,
                "breaks": step == second,
                "map": drawn,
            }
        )
    show_row("strip", side, 2, row, open_step)


def marked(name: str, moved: bool) -> str:
    """A step's name in at most two lines, with the mark of a change.

    >>> marked("scores", True), marked("sine\\ntable", True), marked("scores", False)
    ('scores\\nΔ', 'sine\\ntable Δ', 'scores')
    """
    return name + ("" if not moved else f" {MOVED}" if "\n" in name else f"\n{MOVED}")


def size(trace: Trace, step: str, drawn: Small) -> str:
    """The shape of a step, and what of it a small map leaves out."""
    every = "" if drawn.every == (1, 1) else f" (1 : {drawn.every[0]}, 1 : {drawn.every[1]})"
    return " × ".join(map(str, trace[step].shape)) + every


def open_step(step: object) -> None:
    """Opens the step that a browser names, where there is one."""
    if isinstance(step, str) and step in trace_of(setup_state.current()):
        open_cell(step, None)


# ---- heads -----------------------------------------------------------------------------------------------------------
def show_all_heads(scene: Scene) -> None:
    """The weights of every head; a click makes one the large map."""
    row, places = [], [("weights", scene.look.at | {"H": head}) for head in range(scene.trace.sizes()["H"])]
    for head, drawn in enumerate(smalls(scene, places, MOST_SMALL)):
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
        show_row("heads", HEAD, 1, row, look_at_head, canvas_map.note(drawn.every))


def look_at_head(head: object) -> None:
    """Looks at the head that a browser names, where there is one."""
    if within(head, trace_of(setup_state.current()).sizes()["H"]):
        look_at(head=head, cell=None)


# ---- the maps of a row -----------------------------------------------------------------------------------------------
def smalls(scene: Scene, places: list[tuple[str, dict[str, int]]], most: int) -> tuple[Small, ...]:
    """Of each step the matrix at a position, drawn small."""
    before = setup_state.before() if scene.shows_difference else None
    there = tuple((step, tuple(scene.drawn(step).step(step).leading(at).items())) for step, at in places)
    return cached_smalls(
        computed_part(scene.setup), before and computed_part(before), there, scene.times, most, scene.drawn
    )


@kept
def cached_smalls(
    setup: Setup, before: Setup | None, places: tuple, times: bool, most: int, _drawn: Callable[[str], Trace]
) -> tuple[Small, ...]:
    return tuple(small(_drawn(step), step, dict(at), times, most) for step, at in places)


# ---- a row of them ---------------------------------------------------------------------------------------------------
def show_row(
    key: str,
    side: int,
    lines: int,
    row: list[dict],
    take: Callable[[object], None],
    note: str = "",
    text: int = NAME,
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
        "palette": vars(palette()),
        "fills": {"share": colour_table(True, palette())[0], "signed": colour_table(False, palette())[0]},
        "maps": told,
        "cells": b"".join(each["map"].cells for each in row),
    }
    components.thumbnails(
        data=components.packed(data), key=key, on_opened_change=lambda: take(st.session_state[key].opened)
    )
