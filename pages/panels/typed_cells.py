"""Checks the numbers that the visitor types into the picture of a run, and puts them into the run's matrices."""

from collections.abc import Mapping

import numpy as np
import streamlit as st
import torch

from attention_core import Trace
from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.inputs.matrix_text import read_cell
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step
from pages.panels.setup_controls import take_made_change
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import ScreenState, current_screen
from pages.site.words import say_refusal

CONTROL = "typed_cell"  # name under which the errors of refused numbers are stored
# input step -> name of its matrix, for steps whose matrix has another name
STEP_MATRICES = {"query": "x", "key": "context"}
MAX_CELL_CHARS = 40

TypedCell = tuple[int, int, object]  # (row, column, typed text)


# ---- which cells can be typed into -----------------------------------------------------------------------------------
def list_given_matrices(inputs: RunInputs) -> list[str]:
    """Returns the names of those matrices of a run into which the visitor may type numbers.

    Matrices from a file or a listing, and the vectors of a batch, are left out.
    """
    names = []
    for name, origin in inputs.origins.items():
        is_of_batch = name == "x" and bool(inputs.batch)
        if name != "allowed" and origin not in ("brought", "drawn") and not is_of_batch:
            names.append(name)
    return names


def list_typed_steps(trace: Trace, inputs: RunInputs) -> dict[str, str]:
    """Returns {input step of a run, whose cells the visitor may edit: name of its matrix}."""
    given = list_given_matrices(inputs)
    found = {}
    for name, step in trace.steps.items():
        matrix = STEP_MATRICES.get(name, name)
        if matrix in given and shows_matrix(step, inputs.matrices.get(matrix)):
            found[name] = matrix
    return found


def shows_matrix(step: Step, matrix: np.ndarray | None) -> bool:
    """Returns whether an input step has the same numbers as a matrix, row by row."""
    if matrix is None or step.operation is not None:
        return False
    value = step.value
    if value.numel() != matrix.size or value.shape[-1] != matrix.shape[-1]:
        return False
    numbers = torch.from_numpy(matrix).to(value.dtype)
    return torch.equal(value.reshape(matrix.shape).cpu(), numbers)


# ---- what was typed --------------------------------------------------------------------------------------------------
def take_typed_cell(typed: Mapping | None) -> None:
    """Puts a number that the visitor typed into a cell into the cell's matrix, or stores why the number is refused.

    typed: {"step", "index", "text"}; None if the visitor closed the field of a refused number.
    """
    screen = current_screen()
    if typed is None:
        setup_state.workbench().forget_refusals(CONTROL)
        redraw()
        return
    step, index, text = typed["step"], typed["index"], typed["text"][:MAX_CELL_CHARS]
    matrix = list_typed_steps(screen.trace, screen.inputs).get(step)
    if matrix is not None and screen.trace.holds(step, index):
        setup_state.workbench().forget_refusals(CONTROL)
        st.session_state[CONTROL] = {"step": step, "index": list(index), "text": text}
        type_cell(screen, matrix, place_in_matrix(screen, step, index), text)
    redraw()


def place_in_matrix(screen: ScreenState, step: str, index: tuple[int, ...]) -> tuple[int, int]:
    """Returns the (row, column) that a cell of an input has in the input's matrix.

    The index's last axis counts columns, all axes before it together count rows.
    """
    shape = screen.trace.step(step).shape
    place = int(np.ravel_multi_index(index, shape))
    row, column = divmod(place, shape[-1])
    return row, column


def type_cell(screen: ScreenState, name: str, place: tuple[int, int], text: str) -> None:
    """Puts a typed number into a matrix as one change of the Setup, or stores why the text is refused.

    name: the name of the matrix.
    """
    matrix, base = screen.inputs.matrices[name], screen.inputs.bases.get(name)
    row, column = place
    changed, error = apply_typed_cells(matrix, [(row, column, text)], (0, 0), name)
    if error is not None:
        setup_state.workbench().refuse(CONTROL, error)
    elif not np.array_equal(changed, matrix):
        take_made_change(CONTROL, lambda: {name: shorten_matrix(changed, base, name)})
    if setup_state.workbench().refused.get(CONTROL) is None:
        setup_state.renew_editors()  # the matrix editors must show the new number, too


def make_refusal_data() -> dict | None:
    """Returns the last refused text, its cell, and the reason, as the browser shows them; None if no text is
    refused.
    """
    error = setup_state.workbench().refused.get(CONTROL)
    if error is None:
        return None
    return st.session_state[CONTROL] | {"sentence": say_refusal(error, spell=str)}


def apply_typed_cells(
    matrix: np.ndarray, cells: list[TypedCell], corner: tuple[int, int], name: str
) -> tuple[np.ndarray, AttentionError | None]:
    """Returns a copy of a matrix with the typed numbers, and the error of the last text that is no number, or None.

    cells: the typed texts with their positions within a part of the matrix. corner: the row and column of this part's
    first cell.
    """
    top, left = corner
    changed = matrix.copy()
    error = None
    for row, column, text in cells:
        place = {"name": name, "row": top + row + 1, "column": left + column + 1}
        try:
            if text is None or not str(text).strip():
                raise AttentionError("cell_empty", **place)
            changed[top + row, left + column] = read_cell(str(text), **place)
        except AttentionError as refusal:
            error = refusal
    return changed, error
