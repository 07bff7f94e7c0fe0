"""A picture on the screen: its table goes to the browser as it is, and a click on one of its cells opens that cell."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa
import streamlit as st

from attention_core.drawing.cells import CELL_COLUMNS
from attention_core.drawing.specifications import Picture
from pages.session.cell_clicks import open_sent_cell

PHONE_WIDTH_PX = 350  # pixels: what every screen is wide enough for
SCROLLBAR_PX = 8  # pixels
PICTURE_COLUMN_TYPES = {str: pa.string(), float: pa.float64(), int: pa.int32()}  # a browser has no number for 64 bits
PICTURE_SCHEMA = pa.schema(
    [(column, PICTURE_COLUMN_TYPES[type(usual)]) for column, usual in {**CELL_COLUMNS, "turn": 0}.items()]
)


def show_chart(picture: Picture, key: str, alt: str, take: Callable[[object], None] = open_sent_cell) -> None:
    """Draws a picture; a click on one of its cells opens that cell. take: is given the cell that was clicked, as
    {"step", "index"}.

    A browser tells a click only where it selects something new: after each click the cells have another turn, so that
    the same one can be clicked again.
    """
    turn = st.session_state.get(f"turn_{key}", 0)

    def opened() -> None:
        st.session_state[f"turn_{key}"] = turn + 1
        match st.session_state[key].selection.get("cell"):
            case [{"step": str(step), "index": str(index)}, *_] if CELL_INDEX_PATTERN.fullmatch(index):
                take({"step": step, "index": [*map(int, index.split(","))]})

    with picture_box(picture):
        st.vega_lite_chart(
            pa.table({**picture.table, "turn": [turn] * len(picture.table["kind"])}, schema=PICTURE_SCHEMA),
            picture.spec,
            width="content",
            theme=None,
            key=key,
            on_select=opened,
            selection_mode="cell",
            alt=alt,
        )


def show_curve_chart(picture: Picture, key: str, alt: str) -> None:
    """Draws curves, on a narrow screen narrower; pointing at a point tells its numbers."""
    with st.container(width=picture.spec["width"]):
        st.vega_lite_chart(make_arrow_table(picture), picture.spec, width="stretch", theme=None, key=key, alt=alt)


def show_plane_chart(picture: Picture, key: str, alt: str) -> None:
    """Draws arrows on a plane, whose two axes have one scale on any screen."""
    with picture_box(picture):
        st.vega_lite_chart(make_arrow_table(picture), picture.spec, width="content", theme=None, key=key, alt=alt)


def make_arrow_table(picture: Picture) -> pa.Table:
    """A picture's table as the browser reads it."""
    return pa.table({name: pa.array(column) for name, column in picture.table.items()})


def picture_box(picture: Picture) -> AbstractContextManager:
    """Where a picture stands: one that is wider than a phone scrolls by itself there, not the page."""
    around = picture.spec["padding"]
    width = picture.spec["width"] + around["left"] + around["right"]
    height = picture.spec["height"] + around["top"] + around["bottom"]
    if width <= PHONE_WIDTH_PX:
        return nullcontext()
    return st.container(width=width + 2, height=height + SCROLLBAR_PX, border=False)


CELL_INDEX_PATTERN = re.compile(r"[0-9]{1,3}(,[0-9]{1,3})*")  # how a cell of a picture names the cell of the step
