"""Draws matrices too large for separate cells on a canvas: the numbers of a step, or a mask that can be painted."""

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st
import torch

from attention_core import Trace
from attention_core.drawing.cells import is_share
from attention_core.drawing.palette import palette_for
from attention_core.drawing.raster import MAX_MAP_SIDE, Raster, raster
from attention_core.explanation.layout import MAX_PANEL_SIDE
from attention_core.record.trace import Step
from pages import components
from pages.session.cell_clicks import open_sent_cell
from pages.session.labels import axis_name, chosen_cell, current_palette, picture_texts_for
from pages.session.view import ScreenState
from pages.site.words import get_text_template, say

SMALLEST_WRITTEN = 0.005  # smaller shares would be printed as 0.00
CANVAS_TEXT_KEYS = ("in", "out", "whole", "window", "hint", "hint_touch", "cell", "digits", "blocked", "allowed")


def is_large(trace: Trace, step: str) -> bool:
    """Returns whether a step has too many cells to be drawn one by one; it is then drawn on a canvas."""
    value = trace[step]
    return value.dim() > 1 and min(value.shape[-2:]) > MAX_PANEL_SIDE


def show_large_map(
    screen: ScreenState,
    step: str,
    at: dict[str, int],
    key: str,
    alt: str,
    even: int | None = None,
    run: Trace | None = None,
    most: int = MAX_MAP_SIDE,
    linked: str = "",
) -> None:
    """Draws the numbers of a step on a canvas, one pixel block per cell; a click opens the cell.

    even: the number of keys, if colours show multiples of the uniform weight; else None. run: the run whose step is
    drawn; None for the screen's run. most: the most rows and columns that are drawn. linked: a name; a cell is
    highlighted at once in all canvases with the same name.
    """
    trace = run or screen.drawn(step)
    drawn = raster(
        trace,
        step,
        picture_texts_for(trace),
        current_palette(),
        at,
        screen.times,
        even,
        most,
    )
    row_dim, column_dim = trace.step(step).dims[-2:]
    axes = say("canvas.axes", rows=axis_name(row_dim), columns=axis_name(column_dim))
    notes = [axes, describe_thinning(drawn.every)]
    data = vars(drawn) | common_canvas_data(alt, drawn, trace)
    data["note"] = " · ".join(filter(None, notes))
    data["chosen"] = find_chosen_place(screen, drawn)
    data["query"] = at["T"]
    data["paint"] = False
    data["linked"] = linked
    components.canvas(
        data=components.pack_bytes(data),
        key=key,
        on_opened=open_sent_cell,
    )


def find_chosen_place(screen: ScreenState, drawn: Raster) -> list[int] | None:
    """Returns the row and the column of the opened cell; None if this cell is outside the drawn part of the matrix."""
    cell = chosen_cell(screen.trace, screen.setup)
    if cell is None or cell.step != drawn.step:
        return None
    *leading, row, column = cell.index
    return [row, column] if tuple(leading) == drawn.at else None


def show_plain_map(trace: Trace, step: str, key: str, alt: str, axes_note: str) -> None:
    """Draws the numbers of a step on a canvas whose cells cannot be opened.

    axes_note: a text that says what the rows and columns are. In long rows of shares, the colours show multiples of the
    uniform share. Shares that would be printed as 0.00 are not printed.
    """
    times = trace[step].shape[-1] > MAX_PANEL_SIDE
    drawn = raster(trace, step, picture_texts_for(trace), current_palette(), times=times)
    thinning = describe_thinning(drawn.every)
    data = vars(drawn) | common_canvas_data(alt, drawn, trace)
    data["note"] = " · ".join(filter(None, [axes_note, thinning]))
    data["ramp"] = ()
    data["chosen"] = None
    data["query"] = None
    data["paint"] = False
    data["words"] |= {"hint": say("canvas.look"), "hint_touch": say("canvas.look_touch")}
    data["least"] = SMALLEST_WRITTEN if is_share(trace, step) else 0
    components.canvas(data=components.pack_bytes(data), key=key)


def common_canvas_data(alt: str, drawn: Raster, trace: Trace) -> dict:
    """Returns the data that every matrix on a canvas needs: colours, texts, and how much of the matrix is drawn."""
    return {
        "palette": vars(palette_for(trace, current_palette())),
        "words": {name: get_text_template(f"canvas.{name}") for name in CANVAS_TEXT_KEYS},
        "label": alt,
        "note": describe_thinning(drawn.every),
        "least": 0,
    }


def describe_thinning(every: tuple[int, int]) -> str:
    """Returns the note that each drawn cell stands for a block of cells; "" if all cells are drawn.

    every: the (rows, columns) of a block. The drawn cell is the one with the largest share or magnitude.
    """
    if every == (1, 1):
        return ""
    down, across = every
    return say("canvas.note", down=down, across=across)


def show_paintable_mask(
    trace: Trace, matrix: np.ndarray, take: Callable[[np.ndarray], None], follows: dict | None = None
) -> None:
    """Shows a mask over a run's tokens; dragging over its cells toggles them.

    take: a callback that gets the new mask. follows: data of a slider; while it is dragged, the mask is not updated.
    The session counts the strokes, including invalid ones; after each stroke the canvas waits until the server sends
    the new count (`turn`).
    """
    turn = st.session_state.get("turn_mask", 0)

    def take_stroke(stroke: Mapping) -> None:
        st.session_state["turn_mask"] = turn + 1
        take(paint_stroke(matrix, stroke))

    allowed = Step("allowed", torch.from_numpy(matrix != 0), ("T", "S"))
    mask_trace = Trace({"allowed": allowed}, trace.labels)
    palette = current_palette()
    drawn = raster(mask_trace, "allowed", picture_texts_for(trace), palette)
    data = vars(drawn) | common_canvas_data(say("canvas.mask"), drawn, mask_trace)
    data["fills"] = (palette.ground,) * 256  # draws allowed cells in the background colour of the page
    data["inks"] = (palette.ink,) * 256
    data["chosen"] = None
    data["query"] = None
    data["paint"] = True
    data["turn"] = turn
    data["follows"] = follows
    data["words"] |= {"hint": say("canvas.paint"), "hint_touch": say("canvas.paint_touch")}
    rows, columns = matrix.shape
    components.canvas(
        data=components.pack_bytes(data),
        key="mask",
        given={"rows": rows, "columns": columns},
        on_painted=take_stroke,
    )


def paint_stroke(matrix: np.ndarray, stroke: Mapping) -> np.ndarray:
    """Returns a copy of a mask in which the cells that the visitor dragged over are set to 0 or 1.

    stroke: {"cells": [[row, column], ...], "to": 0 or 1}.
    """
    painted = matrix.copy()
    for row, column in stroke["cells"]:
        painted[row, column] = stroke["to"]
    return painted
