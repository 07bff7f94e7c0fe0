"""A matrix as the difference from another: a link carries the one cell that was changed, not all of them."""

import re

import numpy as np
from jaxtyping import Float

from attention_core.errors import AttentionError
from attention_core.matrices import MAX_MAGNITUDE, from_text, to_text

EDIT = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")


def short_text(
    matrix: Float[np.ndarray, "rows columns"],
    base: Float[np.ndarray, "base_rows base_columns"] | None,
    name: str = "matrix",
) -> str:
    """The shorter of two forms: the whole matrix, or "~" and the cells that differ from `base`.

    name: how errors call the matrix. Raises AttentionError as to_text does.

    >>> base = np.zeros((2, 3))
    >>> short_text(np.array([[0.0, 0.0, 0.0], [0.0, 7.5, 0.0]]), base)
    '~1.1=7.5'
    """
    whole = to_text(matrix, name)
    if base is None or matrix.shape != base.shape:
        return whole
    cells = [
        f"{row}.{column}={to_text(matrix[row : row + 1, column : column + 1])}" for row, column in changed(matrix, base)
    ]
    return min("~" + ";".join(cells), whole, key=len)


def changed(matrix: np.ndarray, base: np.ndarray) -> list[tuple[int, int]]:
    """The cells in which two matrices of one shape differ."""
    return [(int(row), int(column)) for row, column in np.argwhere(matrix != base)]


def from_short_text(
    text: str, base: Float[np.ndarray, "rows columns"] | None, name: str = "matrix"
) -> Float[np.ndarray, "rows columns"]:
    """The matrix that a text in either form describes.

    Raises AttentionError: edit_form for a text that is neither, or for a cell outside `base`; and as from_text does.

    >>> from_short_text("~0.1=-2", np.zeros((1, 2)))
    array([[ 0., -2.]])
    """
    if not text.startswith("~"):
        return from_text(text, name)
    if base is None:
        raise AttentionError("edit_form", name=name, given=text[:20])
    matrix = np.array(base, dtype=float)
    for edit in text[1:].split(";") if len(text) > 1 else ():
        match = EDIT.fullmatch(edit)
        row, column = (int(match[1]), int(match[2])) if match else (-1, -1)
        if not (0 <= row < matrix.shape[0] and 0 <= column < matrix.shape[1]):
            raise AttentionError("edit_form", name=name, given=edit[:20])
        matrix[row, column] = from_text(match[3], name)[0, 0]
    if not (np.abs(matrix) <= MAX_MAGNITUDE).all():
        raise AttentionError("edit_form", name=name, given=text[:20])
    return matrix
