"""Replaces or restores a matrix of the run, or stores the error of a refused input."""

from collections.abc import Callable

import numpy as np

from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.inputs.matrix_values import ChosenNumbers, MatrixValue
from attention_core.record.errors import AttentionError
from pages.panels.input_origins import WHAT_IF_STEPS, get_head_numbers, make_what_if_change
from pages.panels.setup_controls import take_made_change
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import ScreenState

PAIR_MATRICES = (*WHAT_IF_STEPS, "allowed")  # names of the editable matrices with one number per query-key pair

MatrixReader = Callable[[], np.ndarray]


def get_matrix_and_base(screen: ScreenState, name: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Returns the current matrix and the unedited matrix; None instead of a matrix that does not exist."""
    if name in WHAT_IF_STEPS:
        return get_head_numbers(screen, name)
    matrices, bases = screen.inputs.matrices, screen.inputs.bases
    if name == "allowed":
        sizes = screen.trace.sizes()
        all_pairs = np.ones((sizes["T"], sizes["S"]))
        return matrices.get(name, all_pairs), all_pairs
    return matrices.get(name), bases.get(name)


# ---- the control names of refusals -----------------------------------------------------------------------------------
def editor_control_name(name: str) -> str:
    """Returns the name under which errors of a matrix's cells are stored; its text input has another name."""
    return f"edit_{name}"


def import_control_name(name: str) -> str:
    """Returns the name under which errors of a pasted or uploaded matrix are stored; they appear below the inputs."""
    return f"given_{name}"


# ---- taking a matrix -------------------------------------------------------------------------------------------------
def take_matrix(screen: ScreenState, name: str, read: MatrixReader, control: str) -> None:
    """Replaces a matrix by the one that `read` returns, or stores the error that `read` raises.

    control: the name under which the error is stored.
    """
    take_made_change(control, lambda: make_matrix_change(screen, name, read()))


def make_matrix_change(
    screen: ScreenState, name: str, matrix: np.ndarray
) -> dict[str, MatrixValue | ChosenNumbers | None]:
    """Returns the changed field of the Setup if a matrix gets these numbers.

    Raises AttentionError: shape_fits_scores.
    """
    _, base = get_matrix_and_base(screen, name)
    if name in PAIR_MATRICES and matrix.shape != base.shape:
        raise AttentionError("shape_fits_scores", name=name, expected=base.shape, shape=matrix.shape)
    if name in WHAT_IF_STEPS:
        return make_what_if_change(screen, name, matrix)
    return {name: shorten_matrix(matrix, base, name)}


def replace_matrix(screen: ScreenState, name: str, read: MatrixReader, control: str | None = None) -> None:
    """Replaces the matrix and redraws the cells.

    control: the name under which a refusal is stored, by default the name for the cells.
    """
    control = control or editor_control_name(name)
    take_matrix(screen, name, read, control)
    renew_matrix_cells(control)
    redraw()


def replace_value(name: str, value: MatrixValue) -> None:
    """Sets the Setup field of a matrix to a value, and redraws the matrix's cells."""
    control = editor_control_name(name)
    take_made_change(control, lambda: {name: value})
    renew_matrix_cells(control)
    redraw()


def restore_matrix(screen: ScreenState, name: str) -> None:
    """Restores the unedited matrix; for scores and weights, restores the computed numbers of the selected head."""
    control = editor_control_name(name)
    if name in WHAT_IF_STEPS:
        take_made_change(control, lambda: make_what_if_change(screen, name, None))
    else:
        take_made_change(control, lambda: {name: None})
    renew_matrix_cells(control)
    redraw()


def renew_matrix_cells(control: str) -> None:
    """Discards the text typed into the cells and into the input for a pasted matrix, unless `control` has an error."""
    if setup_state.workbench().refused.get(control) is None:
        setup_state.renew_editors()
