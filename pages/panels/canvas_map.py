"""Matrices too large to stand in cells, on a canvas: one of them, and a mask that is painted."""

from collections.abc import Callable

import numpy as np
import streamlit as st
import torch

from attention_core import Trace
from attention_core.drawing.raster import MAX_MAP_SIDE, Raster, raster
from attention_core.explanation.layout import MAX_PANEL_SIDE
from attention_core.record.trace import Step
from pages import components
from pages.session.cell_clicks import is_valid_index, open_sent_cell
from pages.session.labels import axis_name, chosen_cell, current_palette, picture_texts_for
from pages.session.view import ScreenState
from pages.site.words import get_text_template, say

CANVAS_TEXT_KEYS = ("in", "out", "whole", "window", "hint", "cell", "digits", "blocked", "allowed")


def is_large(trace: Trace, step: str) -> bool:
    """Whether a step has more cells than can be read one by one: then it is drawn on a canvas."""
    return min(trace[step].shape[-2:]) > MAX_PANEL_SIDE if trace[step].dim() > 1 else False


def show_large_map(
    scene: ScreenState,
    step: str,
    at: dict[str, int],
    key: str,
    alt: str,
    even: int | None = None,
    run: Trace | None = None,
    most: int = MAX_MAP_SIDE,
    linked: str = "",
) -> None:
    """A step on a canvas; a click opens a cell. even: what an even share is divided by on the scale. run: where it is
    not the one that the scene draws the step from. most: rows or columns that are drawn. linked: a name that maps share
    whose same cell is read together."""
    trace, times = run or scene.drawn(step), scene.times
    drawn = raster(trace, step, picture_texts_for(trace), current_palette(), at, times, even, most)
    cell = chosen_cell(scene.trace, scene.setup)
    here = cell is not None and cell.step == step and cell.index[:-2] == drawn.at
    components.canvas(
        data=components.pack_bytes(
            vars(drawn)
            | common_canvas_data(alt, drawn)
            | {"note": " · ".join(filter(None, [describe_axes(trace, step), describe_thinning(drawn.every)]))}
            | {"chosen": list(cell.index[-2:]) if here else None, "query": at["T"], "paint": False, "linked": linked}
        ),
        key=key,
        on_opened_change=lambda: handle_canvas_click(key),
    )


def show_plain_map(trace: Trace, step: str, key: str, alt: str, axes_note: str) -> None:
    """A matrix on a canvas, to look at whole or near: none of its cells opens. axes_note: what runs down and across."""
    drawn = raster(trace, step, picture_texts_for(trace), current_palette())
    notes = " · ".join(filter(None, [axes_note, describe_thinning(drawn.every)]))
    told = common_canvas_data(alt, drawn) | {"note": notes, "ramp": (), "chosen": None, "query": None, "paint": False}
    told["words"] = told["words"] | {"hint": say("canvas.look")}
    components.canvas(data=components.pack_bytes(vars(drawn) | told), key=key)


def common_canvas_data(alt: str, drawn: Raster) -> dict:
    """What every canvas is told: colours, words, and how much of the matrix it shows."""
    words = {name: get_text_template(f"canvas.{name}") for name in CANVAS_TEXT_KEYS}
    return {"palette": vars(current_palette()), "words": words, "label": alt, "note": describe_thinning(drawn.every)}


def describe_axes(trace: Trace, step: str) -> str:
    """What runs down and what across."""
    rows, columns = map(axis_name, trace.step(step).dims[-2:])
    return say("canvas.axes", rows=rows, columns=columns)


def describe_thinning(every: tuple[int, int]) -> str:
    """That a map shows one cell of so many; nothing where it shows all."""
    return "" if every == (1, 1) else say("canvas.note", down=every[0], across=every[1])


def handle_canvas_click(key: str) -> None:
    """A cell was clicked."""
    open_sent_cell(st.session_state[key].opened)


def show_paintable_mask(trace: Trace, matrix: np.ndarray, take: Callable[[np.ndarray], None]) -> None:
    """A mask over a run's tokens whose cells are switched by drawing over them. take: what is done with the new one.

    The canvas waits for an answer after each stroke: `turn` counts them, refused ones too.
    """
    turn = st.session_state.get("turn_mask", 0)

    def painted() -> None:
        st.session_state["turn_mask"] = turn + 1
        new = matrix.copy()
        match st.session_state["mask"].painted:
            case {"cells": [*cells], "to": 0 | 1 as to}:
                for cell in cells:
                    match cell:
                        case [row, column] if is_valid_index(row, len(new)) and is_valid_index(column, new.shape[1]):
                            new[row, column] = to
        take(new)

    step = Step("allowed", torch.from_numpy(matrix != 0), ("T", "S"))
    drawn = raster(Trace({"allowed": step}, trace.labels), "allowed", picture_texts_for(trace), current_palette())
    plain = {
        "fills": (current_palette().ground,) * 256,
        "inks": (current_palette().ink,) * 256,
    }  # allowed is nothing to shout about
    told = (
        common_canvas_data(say("canvas.mask"), drawn)
        | plain
        | {"chosen": None, "query": None, "paint": True, "turn": turn}
    )
    told["words"] = told["words"] | {"hint": say("canvas.paint")}
    components.canvas(data=components.pack_bytes(vars(drawn) | told), key="mask", on_painted_change=painted)
