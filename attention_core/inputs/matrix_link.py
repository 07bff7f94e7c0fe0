"""Parses and writes a link's text for a matrix, or for scores or weights that the visitor typed.

"1,0.5;-2,0" has all numbers: "," separates cells and ";" separates rows. "~0.1=-2;1.0=3" has changed cells as
"row.column=number". The text before "~" names the matrix in which the cells are changed: "" (the default matrix),
"identity", "zeros", or "random.7" for random numbers of seed 7. "none" means no matrix. "0.1.5.3=2" is a number typed
instead of a computed score or weight, "batch.head.query.key=number".
"""

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from attention_core.inputs.matrix_text import MAX_MAGNITUDE, format_matrix, from_text, shortest_decimal
from attention_core.inputs.matrix_values import (
    CELL_WIDTH,
    CHOSEN_WIDTH,
    NAMED_STARTS,
    REMOVED,
    ChangedCells,
    ChosenNumbers,
    ChosenValue,
    MatrixValue,
    PackedNumbers,
    RemovedMatrix,
    Start,
    UnreadableMatrix,
    WholeMatrix,
    starting_matrix,
)
from attention_core.record.errors import AttentionError

REMOVED_TEXT = "none"
CHANGES_MARK = "~"
EDIT_PATTERN = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")
CHOSEN_PATTERN = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")
RANDOM_PATTERN = re.compile(r"random\.([0-9]{1,9})")
ANY_SHAPE = (1000, 1000)  # a shape that contains every index that EDIT_PATTERN matches
MAX_REMEMBERED = 32  # number of cached matrices, because a page parses the same texts many times


# ---- read ------------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=MAX_REMEMBERED)
def read_matrix(text: str) -> MatrixValue:
    """Parses the text of a matrix in a link into a value; a text that cannot be parsed becomes an UnreadableMatrix.

    >>> read_matrix("1,0.5") == WholeMatrix(PackedNumbers.of([[1, 0.5]]))
    True
    >>> read_matrix("random.7~").start, read_matrix("~0.1=-2").cells.array(), read_matrix("1,two")
    (7, array([[ 0.,  1., -2.]]), UnreadableMatrix(text='1,two'))
    """
    if text == REMOVED_TEXT:
        return REMOVED
    try:
        value = read_changed_cells(text) if CHANGES_MARK in text else WholeMatrix(PackedNumbers.of(from_text(text)))
    except AttentionError:
        return UnreadableMatrix(text)
    return value if write_matrix(value) == text else replace(value, spelling=text)


def read_changed_cells(text: str) -> ChangedCells:
    """Parses a link's text with changed cells, such as "~0.1=-2", into (start: the matrix to change, the changed
    cells).

    Raises AttentionError: edit_form, and the errors of from_text for a number.
    """
    first, edits = split_edits(text)
    start = read_start(first)
    if start is None:
        raise AttentionError("edit_form", name="matrix", given=text[:20])
    cells = [read_edit(edit, ANY_SHAPE, "matrix") for edit in edits]
    return ChangedCells(start, PackedNumbers.of(np.array(cells).reshape(-1, CELL_WIDTH)))


def split_edits(text: str) -> tuple[str, list[str]]:
    """Splits a text into the part before "~" and the texts of the changed cells."""
    first, _, edits = text.partition(CHANGES_MARK)
    return first, edits.split(";") if edits else []


def read_start(text: str) -> Start | None:
    """Parses the part of a link's text before "~", which names the matrix whose cells change.

    Returns "base" for "", the seed for "random.7", None for an unknown name, else the text.
    """
    if not text:
        return "base"
    match = RANDOM_PATTERN.fullmatch(text)
    if match:
        return int(match[1])
    return text if text in NAMED_STARTS else None


def read_edit(edit: str, shape: tuple[int, int], name: str) -> tuple[int, int, float]:
    """Parses a changed cell such as "0.1=-2" into (row, column, number).

    shape: the shape that must contain the cell. Raises AttentionError: edit_form, and the errors of from_text for a
    number.
    """
    match = EDIT_PATTERN.fullmatch(edit)
    if match is None or not is_inside(match, shape):
        raise AttentionError("edit_form", name=name, given=edit[:20])
    row, column, number = match.groups()
    matrix = from_text(number, name)  # read as a matrix of shape (1, 1)
    return int(row), int(column), matrix.item()


def is_inside(edit: re.Match, shape: tuple[int, int]) -> bool:
    """Returns whether the row and the column of a changed cell are inside a shape.

    edit: a match of EDIT_PATTERN.
    """
    rows, columns = shape
    return int(edit[1]) < rows and int(edit[2]) < columns


def from_short_text(
    text: str, base: Float[np.ndarray, "rows columns"] | None, name: str = "matrix"
) -> Float[np.ndarray, "rows columns"]:
    """Returns the matrix that a link's text describes, with all its numbers or with changed cells.

    base: the matrix in which cells change, if the text names no other. name: the name of the matrix in errors. Raises
    AttentionError: edit_form for a text of another form, for a changed cell outside the matrix, or if `base` is None;
    and the errors of from_text.

    >>> from_short_text("~0.1=-2", np.zeros((1, 2)))
    array([[ 0., -2.]])
    """
    if CHANGES_MARK not in text:
        return from_text(text, name)
    first, edits = split_edits(text)
    start = read_start(first)
    if start is None or base is None:
        raise AttentionError("edit_form", name=name, given=text[:20])
    matrix = np.array(starting_matrix(start, base, name), dtype=float)
    for edit in edits:
        row, column, number = read_edit(edit, matrix.shape, name)
        matrix[row, column] = number
    if not (np.abs(matrix) <= MAX_MAGNITUDE).all():
        raise AttentionError("edit_form", name=name, given=text[:20])
    return matrix


def drop_outside_edits(text: str, shape: tuple[int, int]) -> str:
    """Returns a link's text without the changed cells that lie outside the matrix's shape.

    >>> drop_outside_edits("~0.1=0;5.5=0", (2, 2)), drop_outside_edits("1,0;0,1", (2, 2))
    ('~0.1=0', '1,0;0,1')
    """
    if CHANGES_MARK not in text:
        return text
    first, edits = split_edits(text)
    inside = []
    for edit in edits:
        match = EDIT_PATTERN.fullmatch(edit)
        if match is None or is_inside(match, shape):
            inside.append(edit)
    return first + CHANGES_MARK + ";".join(inside)


@lru_cache(maxsize=MAX_REMEMBERED)
def read_chosen(text: str) -> ChosenValue:
    """Parses a link's text of typed scores or weights; a text of another form becomes an UnreadableMatrix.

    >>> read_chosen("0.1.5.3=2").cells.array(), read_chosen("0.1=2")
    (array([[0., 1., 5., 3., 2.]]), UnreadableMatrix(text='0.1=2'))
    """
    try:
        cells = read_chosen_cells(text)
    except AttentionError:
        return UnreadableMatrix(text)
    value = ChosenNumbers(PackedNumbers.of(np.array(cells).reshape(-1, CHOSEN_WIDTH)))
    return value if write_matrix(value) == text else replace(value, spelling=text)


def read_chosen_cells(text: str, name: str = "scores") -> list[tuple[float, ...]]:
    """Parses a link's text of typed scores or weights into tuples (batch, head, query, key, number).

    name: the name of the step, for errors. Raises AttentionError: edit_form, and the errors of from_text for a number.
    """
    cells = []
    for part in text.split(";") if text else ():
        match = CHOSEN_PATTERN.fullmatch(part)
        if match is None:
            raise AttentionError("edit_form", name=name, given=part[:20])
        *place, number = match.groups()
        cells.append((*map(int, place), from_text(number, name).item()))
    return cells


# ---- write -----------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=MAX_REMEMBERED)
def write_matrix(value: MatrixValue | ChosenValue) -> str:
    """Writes a value as the text of a link, which `read_matrix` or `read_chosen` parses back exactly.

    >>> write_matrix(WholeMatrix(PackedNumbers.of([[1, 0.5], [-2, 0]]))), write_matrix(ChangedCells(7))
    ('1,0.5;-2,0', 'random.7~')
    """
    match value:
        case RemovedMatrix():
            return REMOVED_TEXT
        case UnreadableMatrix():
            return value.text
        case _ if value.spelling:
            return value.spelling
        case WholeMatrix():
            return format_matrix(value.packed.array(), "matrix")
        case ChosenNumbers():
            return write_cells(value.cells)
    return write_start(value.start) + CHANGES_MARK + write_cells(value.cells)


def write_cells(cells: PackedNumbers) -> str:
    """Writes numbers with the indices of their cells, such as "0.1=-2;1.0=3".

    cells: a row (index, ..., number) for each cell.
    """
    texts = []
    for *place, number in cells.array().tolist():
        indices = ".".join(f"{index:.0f}" for index in place)
        texts.append(f"{indices}={shortest_decimal(number)}")
    return ";".join(texts)


def write_start(start: Start) -> str:
    """Writes the part of a link's text before "~", which names the matrix whose cells change; "" for the default
    matrix."""
    if start == "base":
        return ""
    return start if start in NAMED_STARTS else f"random.{start}"
