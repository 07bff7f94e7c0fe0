"""Shows the editable cells of a matrix: all cells of a small matrix, or the chosen part of a large one."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.inputs.matrix_text import to_text
from attention_core.record.errors import AttentionError
from pages.panels.input_origins import WHAT_IF_STEPS
from pages.panels.typed_cells import TypedCell, apply_typed_cells
from pages.session import setup_state
from pages.session.entered_values import when_entered
from pages.session.fragments import redraw
from pages.session.labels import axis_label
from pages.session.view import ScreenState
from pages.site.words import say
from pages.workbench.matrix_changes import editor_control_name, get_matrix_and_base, take_matrix

MAX_WHOLE_MATRIX_SIDE = 64  # most rows or columns of a matrix that is shown as a whole
EDITOR_WINDOW_SIDE = 16  # number of rows and of columns in the shown part of a larger matrix
EDITOR_DECIMALS = 4  # decimals of a number in a cell, so that a row of seven numbers fits
MAX_NARROW_CHARS = 7  # most characters of a text that fits into a narrow column
NARROW_COLUMN_PX, WIDE_COLUMN_PX = 64, 150


def cell_editor(screen: ScreenState, name: str, matrix: np.ndarray) -> None:
    """Shows a matrix, or a part of it, in editable cells.

    The key of the editor includes version, shape and position, so that edits never apply to other numbers. The cells
    contain text, because a column of numbers would drop characters that it cannot parse, such as the e of 1e3.
    """
    rows_shown, columns_shown = choose_editor_window(name, matrix)
    top, left = rows_shown.start, columns_shown.start
    shown = matrix[rows_shown, columns_shown]
    if name in WHAT_IF_STEPS:
        shown = shown.round(EDITOR_DECIMALS)
    try:
        rows = [row.split(",") for row in to_text(shown, name).split(";")]
    except AttentionError:  # a score or weight is too large or not finite
        st.caption(say("editor.unreadable"))
        return
    row_headings = make_axis_headings(screen.trace, name, -2, top, len(rows))
    column_headings = make_axis_headings(screen.trace, name, -1, left, len(rows[0]))
    version = f"{locate_head(screen, name)}_{setup_state.editors_version()}"
    key = f"e_{name}_{version}_{matrix.shape}_{top}_{left}"

    row_count = len(rows)

    def take_edits(sent: Mapping) -> None:
        cells = read_sent_cells(sent, row_count, column_headings)
        if cells is None:
            setup_state.renew_editors()
            return
        matrix, _ = get_matrix_and_base(screen, name)
        changed, error = apply_typed_cells(matrix, cells, (top, left), name)
        if not np.array_equal(changed, matrix):
            take_matrix(screen, name, lambda: changed, editor_control_name(name))
        if error is not None:
            setup_state.renew_editors()  # the cell shows the former number again
            setup_state.workbench().refuse(editor_control_name(name), error)
        redraw()

    import pandas as pd  # pandas is imported here because it takes a third of a second

    st.data_editor(
        pd.DataFrame(rows, index=row_headings, columns=column_headings),
        key=key,
        on_change=when_entered(key, take_edits),
        height="content",
        column_config=make_column_config(rows, column_headings),
    )


def locate_head(screen: ScreenState, name: str) -> str:
    """Returns the selected sentence and head as text for a widget key; "" if the matrix is the same for all heads."""
    if name not in WHAT_IF_STEPS:
        return ""
    return f"{screen.selection.batch}_{screen.selection.head}"


def make_column_config(rows: list[list[str]], columns: list[str]) -> dict[str, dict]:
    """Returns the column configuration: widths that fit the longest text, and headings that cannot be edited."""
    texts = [text for row in rows for text in row]
    longest = max(map(len, texts))
    width = NARROW_COLUMN_PX if longest <= MAX_NARROW_CHARS else WIDE_COLUMN_PX
    config = {}
    for column in columns:
        config[column] = st.column_config.TextColumn(width=width)
    config["_index"] = st.column_config.TextColumn(disabled=True)
    return config


# ---- the shown part, and its headings --------------------------------------------------------------------------------
def choose_editor_window(name: str, matrix: np.ndarray) -> tuple[slice, slice]:
    """Returns the rows and columns to show: all of a small matrix, else the part that the visitor chooses."""
    row_count, column_count = matrix.shape
    if max(matrix.shape) <= MAX_WHOLE_MATRIX_SIDE:
        return slice(0, row_count), slice(0, column_count)
    shown_rows = min(EDITOR_WINDOW_SIDE, row_count)
    shown_columns = min(EDITOR_WINDOW_SIDE, column_count)
    st.caption(say("editor.corner", rows=shown_rows, columns=shown_columns))
    with st.container(horizontal=True):
        top = choose_first_place(name, "row", row_count)
        left = choose_first_place(name, "column", column_count)
    return slice(top, top + EDITOR_WINDOW_SIDE), slice(left, left + EDITOR_WINDOW_SIDE)


def choose_first_place(name: str, axis: str, size: int) -> int:
    """Shows the input for the first row or column of the shown part, and returns its index, from 0."""
    last = max(size - EDITOR_WINDOW_SIDE, 0)
    number = st.number_input(
        say(f"editor.first_{axis}"),
        1,
        last + 1,
        key=f"c_{axis}_{name}",
        width=140,
    )
    return number - 1


def make_axis_headings(trace: Trace, name: str, axis: int, first: int, count: int) -> list[str]:
    """Returns the headings of rows or columns: positions from 1, with the token or the head if there is one."""
    dim = find_matrix_dim(trace, name, axis)
    stop = first + count
    places = range(first, stop)
    labels = trace.labels.get(dim, ())
    if len(labels) >= stop:
        return [f"{place + 1} {axis_label(trace, dim, place)}" for place in places]
    head_dim, separator, _ = dim.partition("·")  # "H·d_k" is the axis with the columns of all heads side by side
    head_count = trace.sizes()[head_dim] if separator else 1
    if head_count == 1:
        return [str(place + 1) for place in places]
    width = trace.step(name).shape[axis] // head_count
    headings = []
    for place in places:
        head = say("place.head", number=place // width + 1)
        headings.append(f"{place + 1} ({head})")
    return headings


def find_matrix_dim(trace: Trace, name: str, axis: int) -> str:
    """Returns the name of an axis's dimension if the matrix is a step of the run, else ""."""
    if name not in trace:
        return ""
    dims = trace.step(name).dims
    is_matrix = len(dims) == 2 or name in WHAT_IF_STEPS
    return dims[axis] if is_matrix else ""


# ---- the typed cells -------------------------------------------------------------------------------------------------
def read_sent_cells(sent: Mapping, rows: int, columns: list[str]) -> list[TypedCell] | None:
    """Returns the typed cells as (row, column, text); None if the browser's message does not fit the shown cells."""
    match sent:
        case {"edited_rows": {} as edited_rows, "added_rows": [], "deleted_rows": []}:
            return read_edited_rows(edited_rows, rows, columns)
    return None


def read_edited_rows(edited_rows: Mapping, rows: int, columns: list[str]) -> list[TypedCell] | None:
    """Returns the cells of {row: {column: text}} as a list; None if a cell lies outside the rows and columns."""
    cells = []
    for row, texts in edited_rows.items():
        if row not in range(rows) or not isinstance(texts, Mapping):
            return None
        for column, text in texts.items():
            if column not in columns:
                return None
            cells.append((row, columns.index(column), text))
    return cells
