"""Converts a MatrixValue to the numbers of a matrix, and numbers to the MatrixValue with the shortest text for a
link.
"""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from attention_core.inputs.matrix_link import (
    drop_outside_edits,
    from_short_text,
    read_chosen_cells,
    read_matrix,
    write_matrix,
)
from attention_core.inputs.matrix_text import MAX_COLUMNS, MAX_MAGNITUDE, MAX_ROWS, to_text
from attention_core.inputs.matrix_values import (
    NAMED_STARTS,
    ChangedCells,
    ChosenNumbers,
    ChosenValue,
    MatrixValue,
    PackedNumbers,
    UnreadableMatrix,
    WholeMatrix,
    starting_matrix,
)

MAX_EDITS = 10_000  # most changed cells; if more change, the whole matrix is stored
MAX_SURELY_SHORT = 8_000  # numbers of a matrix that always fits in a link


# ---- from numbers to a value -----------------------------------------------------------------------------------------
def pack_matrix(array: Float[np.ndarray, "rows columns"], name: str = "matrix") -> WholeMatrix:
    """Packs all numbers of a matrix without rounding. In a link, each number has just enough digits to identify its
    float64.

    Raises AttentionError, as to_text does, for a matrix that a link cannot hold.

    >>> pack_matrix([[1, 0.5]]).packed.array()
    array([[1. , 0.5]])
    """
    matrix = np.asarray(array, dtype=np.float64)
    has_sides = matrix.ndim == 2 and max(matrix.shape) <= min(MAX_ROWS, MAX_COLUMNS)
    is_short = 0 < matrix.size <= MAX_SURELY_SHORT
    if not (has_sides and is_short and (np.abs(matrix) <= MAX_MAGNITUDE).all()):
        to_text(matrix, name)  # called for its errors: an invalid number or size
    return WholeMatrix(PackedNumbers.of(matrix))


def scale_matrix(matrix: Float[np.ndarray, "rows columns"], factor: float, name: str = "matrix") -> WholeMatrix:
    """Multiplies every number of a matrix by a factor, and packs the matrix. Raises AttentionError as pack_matrix does.

    >>> scale_matrix(np.array([[1.0, -0.5]]), 10).packed.array()
    array([[10., -5.]])
    """
    return pack_matrix(matrix * factor, name)


def shorten_matrix(
    matrix: Float[np.ndarray, "rows columns"],
    base: Float[np.ndarray, "base_rows base_columns"] | None,
    name: str = "matrix",
) -> MatrixValue:
    """Returns a matrix as the MatrixValue with the shortest text: all numbers, or the cells that differ from a starting
    matrix.

    The starting matrix is `base`, the identity or zeros, and only if `base` has the shape of the matrix. name: the name
    of the matrix in errors. Raises AttentionError as pack_matrix does.

    >>> base = np.zeros((2, 3))
    >>> write_matrix(shorten_matrix(np.array([[0.0, 0.0, 0.0], [0.0, 7.5, 0.0]]), base))
    '~1.1=7.5'
    >>> write_matrix(shorten_matrix(np.eye(3), np.ones((3, 3))))
    'identity~'
    """
    forms = []
    if base is not None and base.shape == matrix.shape:
        for start in ("base", *NAMED_STARTS):
            places = changed_cells(matrix, starting_matrix(start, base, name))
            if len(places) <= MAX_EDITS:
                forms.append(ChangedCells(start, pack_cells(matrix, places)))
    shortest = min(forms, key=count_characters, default=None)
    if shortest is not None and count_characters(shortest) <= matrix.size:  # a number needs a character or more
        return shortest
    whole = pack_matrix(matrix, name)
    return whole if shortest is None else min(shortest, whole, key=count_characters)


def count_characters(value: MatrixValue) -> int:
    """Returns the length of a value's text in a link."""
    return len(write_matrix(value))


def pack_cells(matrix: np.ndarray, places: list[tuple[int, int]]) -> PackedNumbers:
    """Packs some cells of a matrix as rows (row, column, number). Raises AttentionError as pack_matrix does.

    places: the (row, column) of each cell.
    """
    rows, columns = np.array(places, dtype=int).reshape(-1, 2).T
    numbers = matrix[rows, columns]
    for number in numbers[~(np.abs(numbers) <= MAX_MAGNITUDE)]:
        pack_matrix([[number]])
    return PackedNumbers.of(np.column_stack([rows, columns, numbers]))


def changed_cells(matrix: np.ndarray, base: np.ndarray) -> list[tuple[int, int]]:
    """Returns the (row, column) of each cell in which two matrices of the same shape differ."""
    places = np.argwhere(matrix != base)
    return [(row, column) for row, column in places.tolist()]


# ---- from a value to numbers -----------------------------------------------------------------------------------------
def edited_matrix(
    value: MatrixValue, base: Float[np.ndarray, "rows columns"] | None, name: str = "matrix"
) -> Float[np.ndarray, "rows columns"]:
    """Returns the numbers of a value as a new array: a whole matrix, or a starting matrix with changed cells.

    base: the matrix in which the value changes cells; None if there is none. Raises AttentionError: edit_form for a
    cell outside `base`, or if `base` is needed and None; as from_short_text does for a text that is no matrix.

    >>> edited_matrix(ChangedCells("identity", PackedNumbers.of([[0, 1, -2]])), np.zeros((2, 2)))
    array([[ 1., -2.],
           [ 0.,  1.]])
    """
    if isinstance(value, WholeMatrix):
        return value.packed.array().copy()
    if isinstance(value, ChangedCells) and base is not None:
        matrix = np.array(starting_matrix(value.start, base, name), dtype=float)
        rows, columns, numbers = value.cells.array().T
        if is_within(value.cells, matrix.shape).all():
            matrix[rows.astype(int), columns.astype(int)] = numbers
            if (np.abs(matrix) <= MAX_MAGNITUDE).all():
                return matrix
    return from_short_text(write_matrix(value), base, name)  # called for its error, which names the fault


def is_within(cells: PackedNumbers, shape: tuple[int, int]) -> np.ndarray:
    """Returns a boolean array (cells,): whether each changed cell lies inside a matrix of this shape."""
    places = cells.array()[:, :2]
    return (places < shape).all(axis=1)


def drop_outside_cells(value: MatrixValue, shape: tuple[int, int]) -> MatrixValue:
    """Returns a value without changed cells outside a shape, so that a mask for fewer tokens keeps the cells that still
    fit.

    >>> write_matrix(drop_outside_cells(read_matrix("~0.1=0;5.5=0"), (2, 2)))
    '~0.1=0'
    """
    match value:
        case ChangedCells():
            cells = value.cells.array()[is_within(value.cells, shape)]
            return ChangedCells(value.start, PackedNumbers.of(cells))
        case UnreadableMatrix():
            return read_matrix(drop_outside_edits(value.text, shape))
    return value


# ---- random numbers --------------------------------------------------------------------------------------------------
def random_seed(value: MatrixValue | None) -> int | None:
    """Returns the seed of a random matrix without changed cells; None for any other value.

    >>> random_seed(ChangedCells(7)), random_seed(read_matrix("random.7~0.0=1")), random_seed(None)
    (7, None, None)
    """
    if isinstance(value, ChangedCells) and isinstance(value.start, int) and not value.cells.data:
        return value.start
    return None


def random_rows(
    matrix: Float[np.ndarray, "rows columns"],
    value: MatrixValue,
    base: Float[np.ndarray, "base_rows base_columns"] | None,
    drawn: Iterable[int],
    name: str = "matrix",
    width: int | None = None,
) -> frozenset[int]:
    """Returns the indices of a matrix's rows that still contain random numbers.

    value: the visitor's text or cell edits from which the matrix was made. base: the matrix before the edits. drawn:
    the rows of `base` that were sampled at random. width: the number of first columns that were sampled; None for all.

    >>> base = np.array([[0.25, 0.5], [1.0, 0.0]])
    >>> random_rows(base, ChangedCells(), base, drawn=[0])
    frozenset({0})
    >>> random_rows(np.array([[7, 0.5], [8, 9]]), read_matrix("~0.0=7"), base, drawn=[0])
    frozenset({0})
    >>> random_rows(np.eye(2), ChangedCells("identity"), base, drawn=[0])
    frozenset()
    """
    if base is None or base.shape != matrix.shape:
        return frozenset()
    is_edited = isinstance(value, ChangedCells)
    if is_edited and value.start in NAMED_STARTS:  # the identity and zeros contain no random numbers
        return frozenset()

    start = base
    rows = drawn
    if is_edited and value.start != "base":
        start = starting_matrix(value.start, base, name)
        rows = range(len(base))
    same = matrix[:, :width] == start[:, :width]
    has_random = same.any(axis=1)
    if not is_edited:  # all columns are compared: one typed number may equal a random one by chance
        has_random = same.all(axis=1)
    return frozenset(row for row in rows if has_random[row])


# ---- chosen numbers of a step ----------------------------------------------------------------------------------------
def chosen_array(
    value: ChosenValue | None, shape: tuple[int, int, int, int], name: str = "scores"
) -> Float[np.ndarray, "B H T S"]:
    """Returns an array with the visitor's numbers for a step, and NaN in all other cells.

    shape: (B, H, T, S); numbers outside this shape are left out. name: the name of the step in errors. Raises
    AttentionError as read_chosen_cells does.

    >>> from attention_core.inputs.matrix_link import read_chosen
    >>> chosen_array(read_chosen("0.0.0.1=2.5;0.0.7.7=1"), (1, 1, 1, 2))
    array([[[[nan, 2.5]]]])
    """
    numbers = np.full(shape, np.nan)
    if value is None:
        return numbers
    if isinstance(value, UnreadableMatrix):
        read_chosen_cells(value.text, name)  # called for its error, which names the fault in the text
    cells = value.cells.array()
    if not (np.abs(cells[:, -1]) <= MAX_MAGNITUDE).all():
        read_chosen_cells(write_matrix(value), name)
    inside = cells[(cells[:, :-1] < shape).all(axis=1)]
    places = inside[:, :-1].astype(int)
    numbers[tuple(places.T)] = inside[:, -1]
    return numbers


def pack_chosen(numbers: Float[np.ndarray, "B H T S"]) -> ChosenNumbers | None:
    """Packs every number that is not NaN, together with its index; returns None if all numbers are NaN.

    >>> write_matrix(pack_chosen(np.array([[[[np.nan, 2.5]]]])))
    '0.0.0.1=2.5'
    """
    is_chosen = ~np.isnan(numbers)
    if not is_chosen.any():
        return None
    cells = np.column_stack([np.argwhere(is_chosen), numbers[is_chosen]])
    return ChosenNumbers(PackedNumbers.of(cells))
