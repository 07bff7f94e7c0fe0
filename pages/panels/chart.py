"""Draws pictures with Vega-Lite in the browser; a click on a cell opens that cell."""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa
import streamlit as st

from attention_core.drawing.cells import CELL_COLUMNS
from attention_core.drawing.specifications import Picture
from pages.session.cell_clicks import open_sent_cell
from pages.session.collected import collect_nothing, collected
from pages.session.entered_values import when_entered

PHONE_WIDTH_PX = 350  # px: width of the narrowest supported screen
SMALLEST_SCALE = 0.64  # smallest scale of a picture on a phone, as in page.css; letters of 17 px are then 11 px
SCROLLBAR_PX = 8  # pixels: height of a horizontal scroll bar
CELL_INDEX_PATTERN = re.compile(r"[0-9]{1,3}(,[0-9]{1,3})*")  # matches the index of a step's cell, such as "0,1,2"
# int32 instead of int64, which JavaScript lacks
PICTURE_COLUMN_TYPES = {str: pa.string(), float: pa.float64(), int: pa.int32()}
PICTURE_COLUMNS = {**CELL_COLUMNS, "turn": 0}  # the columns of a picture's table, each with its default value
PICTURE_SCHEMA = pa.schema([(column, PICTURE_COLUMN_TYPES[type(usual)]) for column, usual in PICTURE_COLUMNS.items()])


def show_chart(picture: Picture, key: str, alt: str, take: Callable[[Mapping], None] = open_sent_cell) -> None:
    """Draws a picture with Vega-Lite; a click on one of its cells opens that cell.

    take: a callback that gets {"step", "index"} of a clicked cell. A browser reports a click only if the click changes
    the selection. After each click the cells therefore get a new count (`turn`), so that the same cell can be clicked
    again.
    """
    collected().add_picture(picture, alt)
    turn_key = f"turn_{key}"
    turn = st.session_state.get(turn_key, 0)

    def take_clicked_cell(sent: Mapping) -> None:
        st.session_state[turn_key] = turn + 1
        cell = read_clicked_cell(sent["selection"].get("cell"))
        if cell is not None:
            take(cell)

    turns = [turn] * len(picture.table["kind"])
    table = pa.table({**picture.table, "turn": turns}, schema=PICTURE_SCHEMA)
    with picture_box(picture, key):
        st.vega_lite_chart(
            table,
            picture.spec,
            width="content",
            theme=None,
            key=key,
            on_select=when_entered(key, take_clicked_cell),
            selection_mode="cell",
            alt=alt,
        )


def draw_for_widths(
    key: str, draw_wide: Callable[[], None], draw_narrow: Callable[[], None], width: str = "content"
) -> None:
    """Draws a picture for wide screens and one for phones; page.css shows one of them, and files have the wide one.

    width: the width of both containers, as st.container takes it.
    """
    with st.container(key=f"wide_{key}", width=width):
        draw_wide()
    with st.container(key=f"narrow_{key}", width=width), collect_nothing():
        draw_narrow()


def read_clicked_cell(selected: object) -> dict[str, object] | None:
    """Returns the cell that was clicked in the browser, as {"step", "index"}; None if the message has no such cell."""
    match selected:
        case [{"step": str(step), "index": str(index)}, *_] if CELL_INDEX_PATTERN.fullmatch(index):
            return {"step": step, "index": tuple(map(int, index.split(",")))}
    return None


def show_curve_chart(picture: Picture, key: str, alt: str) -> None:
    """Draws a chart of curves, which is narrower on a narrow screen; hovering over a point shows its numbers."""
    collected().add_picture(picture, alt)
    with st.container(width=picture.spec["width"]):
        st.vega_lite_chart(make_arrow_table(picture), picture.spec, width="stretch", theme=None, key=key, alt=alt)


def show_plane_chart(picture: Picture, key: str, alt: str) -> None:
    """Draws arrows on a plane whose two axes have the same scale on every screen."""
    collected().add_picture(picture, alt)
    with picture_box(picture, key):
        st.vega_lite_chart(make_arrow_table(picture), picture.spec, width="content", theme=None, key=key, alt=alt)


def make_arrow_table(picture: Picture) -> pa.Table:
    """Returns a picture's table in Arrow format."""
    columns = {name: pa.array(column) for name, column in picture.table.items()}
    return pa.table(columns)


def picture_box(picture: Picture, key: str) -> AbstractContextManager:
    """Returns the container of a picture.

    On a screen that is narrower than the picture, the picture is smaller (page.css), down to SMALLEST_SCALE; if it is
    still wider, it scrolls within the container, and the page does not scroll. key: the key of the picture.
    """
    spec = picture.spec
    padding = spec["padding"]
    width = spec["width"] + padding["left"] + padding["right"]
    height = spec["height"] + padding["top"] + padding["bottom"]
    if width <= PHONE_WIDTH_PX:
        return nullcontext()
    kind = "shrinks" if width * SMALLEST_SCALE <= PHONE_WIDTH_PX else "slides"
    return st.container(width=width + 2, height=height + SCROLLBAR_PX, border=False, key=f"{kind}_{key}")
