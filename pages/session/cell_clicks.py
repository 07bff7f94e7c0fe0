"""Handles cells of matrices that the visitor clicked or typed into; cells that the current run lacks are ignored."""

from collections.abc import Iterable, Mapping

import streamlit as st

from attention_core.inputs.matrix_cells import split_cells
from attention_core.record.errors import AttentionError
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.fragments import select_and_redraw


def read_typed_cells(sent: Iterable[Mapping], rows: int, columns: int, name: str) -> list[tuple[int, int, str]]:
    """Returns the numbers typed into the cells of a matrix as (row, column, text), without cells that the matrix lacks.

    sent: [{"row", "column", "text"}, ...] from the browser; with "pasted": true the text is a matrix whose upper left
    corner is at this cell. name: the name of the matrix, for errors. Raises AttentionError: too_many_rows and
    too_many_columns if a pasted matrix does not fit, and the errors of split_cells.
    """
    found = []
    for cell in sent:
        row, column, text = cell["row"], cell["column"], cell["text"]
        if row >= rows or column >= columns:
            continue
        if cell.get("pasted"):
            found += read_pasted_cells(text, (row, column), (rows - row, columns - column), name)
        else:
            found.append((row, column, text))
    return found


def read_pasted_cells(
    text: str, corner: tuple[int, int], room: tuple[int, int], name: str
) -> list[tuple[int, int, str]]:
    """Returns the cells of a matrix that was pasted into another matrix, as (row, column, text).

    corner: the row and column at which the pasted matrix begins. room: how many rows and columns of the other matrix
    remain from there. Raises AttentionError: too_many_rows, too_many_columns, and the errors of split_cells.
    """
    top, left = corner
    cells = split_cells(text, name)
    size = (len(cells), max(map(len, cells), default=0))
    for code, given, limit in zip(("too_many_rows", "too_many_columns"), size, room, strict=True):
        if given > limit:
            raise AttentionError(code, name=name, limit=limit, given=given)
    places = []
    for row, line in enumerate(cells, top):
        for column, number in enumerate(line, left):
            places.append((row, column, number))
    return places


def open_sent_cell(place: Mapping, follow: bool = False) -> None:
    """Opens the cell that was clicked in the browser, if the current run has this cell.

    place: {"step", "index"} of the cell, from the browser. follow: True if the visitor traces a number back to its
    operands; the selected token then does not change.
    """
    step, cell = place["step"], place["index"]
    if trace_for(setup_state.current_setup()).holds(step, cell):
        open_cell(step, cell, follow)


def open_cell(step: str, cell: tuple[int, ...] | None, follow: bool = False) -> None:
    """Opens a step and one of its cells, and selects the cell's head, sentence and token.

    follow: True if the visitor traces a number back to its operands; then the selected token does not change.
    """
    selected: dict = {"step": step, "cell": cell}
    if cell is not None:
        trace = trace_for(setup_state.current_setup())
        place = dict(zip(trace.step(step).dims, cell, strict=True))
        if "H" in place:
            selected["head"] = place["H"]
        if "T" in place and not follow:
            selected["token"] = place["T"]
        if place.get("B"):
            selected["sentence"] = place["B"]
        if follow:
            setup_state.extend_trail(step, cell)
    st.session_state["opened"] = st.session_state.get("opened", 0) + 1
    select_and_redraw(**selected)
