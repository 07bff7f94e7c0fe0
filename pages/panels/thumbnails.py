"""Draws rows of small maps of a run's steps, or of its heads; a click selects a step or a head."""

from collections.abc import Callable

import streamlit as st

from attention_core import Trace
from attention_core.drawing.palette import Palette, palette_for
from attention_core.drawing.raster import MAX_SMALL_MAP_SIDE, SmallRaster, colour_table, small_raster
from pages import components
from pages.panels import canvas_map
from pages.runs.cache import cache_by_setup, trace_for
from pages.session import setup_state
from pages.session.cell_clicks import open_cell
from pages.session.fragments import select_and_redraw
from pages.session.labels import current_palette, short_step_name
from pages.session.view import ScreenState
from pages.setup.setup import RunSetup
from pages.site.words import say

STEP_MAP_PX, NARROW_STEP_MAP_PX, HEAD_MAP_PX = 46, 34, 80  # px: longer side of each kind of small map
NAME_TEXT_PX = 13  # px: font size of the name below a small map
MAX_STEPS_IN_LINE = 15  # most small maps of steps in one line
MAX_NARROW_STEPS_IN_LINE = 18  # most narrow maps in one line; with more, a second line starts at the scores
MOVED_MARK = "Δ"  # mark below the name of a step whose numbers have changed
SEQUENCE_INPUTS = ("x", "query", "key", "value", "q", "k", "v", "q_heads", "k_heads")
MASK_INPUTS = ("allowed_custom", "allowed")
BIAS_INPUTS = ("bias_custom", "bias")

StepPlace = tuple[str, dict[str, int]]  # (name of a step, {leading axis: index})


# ---- steps -----------------------------------------------------------------------------------------------------------
def list_strip_steps(trace: Trace) -> list[str]:
    """Returns the steps that are drawn as small maps in a row: input sequences and all computed matrices.

    Masks and biases that are inputs precede the computed steps of the same kind.
    """
    inputs = trace.inputs()
    steps = [name for name in SEQUENCE_INPUTS if name in inputs]
    for name, step in trace.computed().items():
        if len(step.dims) > 1:
            steps.append(name)
    masks = [name for name in MASK_INPUTS if name in inputs]
    use_masks = [step.startswith("allowed") or step == "masked_scores" for step in steps]
    mask_place = use_masks.index(True)
    steps[mask_place:mask_place] = masks
    biases = [name for name in BIAS_INPUTS if name in inputs]
    if biases:
        use_biases = [name == "biased_scores" or name.endswith("bias") for name in steps]
        bias_place = use_biases.index(True)
        steps[bias_place:bias_place] = biases
    return steps


def show_strip(screen: ScreenState) -> None:
    """Draws all steps in order as small maps; a mark shows which ones the last change affected."""
    steps = list_strip_steps(screen.trace)
    moved = {*screen.moved, *screen.new, *screen.reshaped}
    second_line_step = find_second_line_step(steps)
    are_narrow = MAX_STEPS_IN_LINE < len(steps) <= MAX_NARROW_STEPS_IN_LINE
    side = NARROW_STEP_MAP_PX if are_narrow else STEP_MAP_PX
    places = [(step, screen.selection.at) for step in steps]
    maps = make_small_maps(screen, places, side)
    row = []
    for step, small_map in zip(steps, maps, strict=True):
        shape = describe_shape(screen.trace, step, small_map)
        entry = {
            "opens": step,
            "name": mark_moved(short_step_name(step), step in moved),
            "title": f"{step} · {shape}",
            "chosen": step == screen.setup.view.step,
            "breaks": step == second_line_step,
            "map": small_map,
        }
        row.append(entry)
    show_small_maps("strip", side, 2, row, open_step, palette=palette_for(screen.trace, current_palette()))


def find_second_line_step(steps: list[str]) -> str | None:
    """Returns the step at which a second line of small maps starts; None if one line suffices."""
    if len(steps) <= MAX_NARROW_STEPS_IN_LINE:
        return None
    return next((step for step in steps if step in ("hidden", "scores")), None)


def mark_moved(name: str, moved: bool) -> str:
    """Returns a step's name in at most two lines, with MOVED_MARK at the end if the step's numbers have changed.

    >>> mark_moved("scores", True), mark_moved("sine\\ntable", True), mark_moved("scores", False)
    ('scores\\nΔ', 'sine\\ntable Δ', 'scores')
    """
    if not moved:
        return name
    has_two_lines = "\n" in name
    return f"{name} {MOVED_MARK}" if has_two_lines else f"{name}\n{MOVED_MARK}"


def describe_shape(trace: Trace, step: str, small_map: SmallRaster) -> str:
    """Returns the text on the shape of a step, and on how many cells its small map leaves out."""
    shape = " × ".join(map(str, trace.step(step).shape))
    if small_map.every == (1, 1):
        return shape
    down, across = small_map.every
    return f"{shape} (1 : {down}, 1 : {across})"


def open_step(step: str) -> None:
    """Opens a step, if the run has it."""
    if step in trace_for(setup_state.current_setup()):
        open_cell(step, None)


# ---- heads -----------------------------------------------------------------------------------------------------------
def show_all_heads(screen: ScreenState) -> None:
    """Draws the weights of every head as small maps; a click on a map selects its head for the large map."""
    selection = screen.selection
    heads = range(screen.trace.sizes()["H"])
    places = [("weights", selection.at | {"H": head}) for head in heads]
    maps = make_small_maps(screen, places, MAX_SMALL_MAP_SIDE)
    row = []
    for head, small_map in enumerate(maps):
        name = say("place.head", number=head + 1)
        entry = {
            "opens": head,
            "name": name,
            "title": name,
            "chosen": head == selection.head,
            "breaks": False,
            "map": small_map,
        }
        row.append(entry)
    thinning = canvas_map.describe_thinning(maps[-1].every)
    with st.container(gap=None):
        st.markdown(say("heads.all", count=len(row)))
        colours = palette_for(screen.trace, current_palette())
        show_small_maps("heads", HEAD_MAP_PX, 1, row, select_head, thinning, palette=colours)


def select_head(head: int) -> None:
    """Selects a head, if the run has it."""
    if head in range(trace_for(setup_state.current_setup()).sizes()["H"]):
        select_and_redraw(head=head, cell=None)


# ---- the maps of a row -----------------------------------------------------------------------------------------------
def make_small_maps(screen: ScreenState, places: list[StepPlace], most: int) -> tuple[SmallRaster, ...]:
    """Returns a small map for each given step, at the given index on its leading axes.

    places: the steps with these indices. most: the most rows and columns that are drawn.
    """
    before = setup_state.setup_before() if screen.shows_difference else None
    matrices = []
    for step, at in places:
        leading = screen.drawn(step).step(step).leading(at)
        matrices.append((step, tuple(leading.items())))
    return cached_small_maps(
        screen.setup.run,
        before and before.run,
        tuple(matrices),
        screen.times,
        most,
        screen.drawn,
    )


@cache_by_setup
def cached_small_maps(
    run: RunSetup, before: RunSetup | None, matrices: tuple, times: bool, most: int, _drawn: Callable[[str], Trace]
) -> tuple[SmallRaster, ...]:
    """Returns the small maps of a run, or of its difference from the previous run.

    matrices: each step with its index on the leading axes.
    """
    return tuple(small_raster(_drawn(step), step, dict(at), times, most) for step, at in matrices)


def show_small_maps(
    key: str,
    side: int,
    lines: int,
    row: list[dict],
    take: Callable[[object], None],
    note: str = "",
    text: int = NAME_TEXT_PX,
    palette: Palette | None = None,
) -> None:
    """Shows small maps in a row.

    side: the longer side of a map, in pixels. lines: the number of lines of a name. row: the data of each map, with the
    map itself as "map". take: a function that is called with the "opens" value of a clicked map. text: the font size of
    the name, in pixels. palette: the colours; by default those of the theme.
    """
    palette = palette or current_palette()
    share_fills, _ = colour_table(True, palette)
    signed_fills, _ = colour_table(False, palette)
    data = {
        "label": say(f"{key}.alt"),
        "note": note,
        "side": side,
        "lines": lines,
        "text": text,
        "palette": vars(palette),
        "fills": {"share": share_fills, "signed": signed_fills},
        "maps": [make_map_data(entry) for entry in row],
        "cells": b"".join(entry["map"].cells for entry in row),
    }
    components.thumbnails(
        data=components.pack_bytes(data),
        key=key,
        given={"opens": tuple(entry["opens"] for entry in row)},
        on_opened=take,
    )


def make_map_data(entry: dict) -> dict:
    """Returns a map as data of the component: its size and colour scale, without its cells."""
    small_map = entry["map"]
    scale = "share" if small_map.is_share else "signed"
    return {**entry, "map": small_map.drawn, "scale": scale}
