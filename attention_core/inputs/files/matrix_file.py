"""Reads one matrix from a file with any other contents: by its name, by its name in a library, or as the only array."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from attention_core.inputs.files.array_bytes import printable_name
from attention_core.inputs.files.contents import FileContents, read_contents
from attention_core.inputs.files.projection_names import find_projection, turn_projection
from attention_core.inputs.files.uploads import first_true, list_first_names, refuse_not_finite
from attention_core.inputs.matrix_text import MAX_COLUMNS, MAX_MAGNITUDE, MAX_ROWS, shortest_decimal
from attention_core.record.errors import AttentionError


def read_matrix_file(file_name: str, content: bytes) -> FileContents:
    """The contents of a file with a matrix. Raises AttentionError: no_arrays, or that of an unreadable array, and those
    of read_contents.
    """
    contents = read_contents(file_name, content)
    if not contents.arrays:
        raise next(iter(contents.unread.values()), AttentionError("no_arrays", name=printable_name(file_name)))
    return contents


def read_array(
    file_name: str, content: bytes, name: str, array: str | None = None, minus_infinity: bool = False
) -> np.ndarray:
    """Reads an array of a file: `array` if given, else the array called `name`, in this project or in a
    library, else the only one. The matrix of a linear layer is transposed: see turn_projection.

    name: of the matrix, for errors. minus_infinity: whether it may contain −∞. The rest as in
    read_contents; other contents of the file need not be arrays, nor finite.

    Raises AttentionError: unknown_choice, which_array, no_arrays, and those of read_contents.

    >>> read_array("layer.json", b'{"q": [[1, 2]], "k": [[3, 4]]}', "k")
    array([[3, 4]])
    """
    contents = read_matrix_file(file_name, content)
    refused = contents.unread.get(array or name)
    if refused is not None:
        raise refused
    chosen = choose_name(file_name, contents.arrays, name, array)
    taken = turn_projection(contents.arrays[chosen], chosen, name)
    refuse_not_finite(name, taken, minus_infinity)
    return taken


def read_matrix(
    file_name: str, content: bytes, name: str, array: str | None = None
) -> Float[np.ndarray, "rows columns"]:
    """Reads one array of a file as a matrix: a vector (n,) becomes (1, n), leading axes of length 1 are dropped.

    Arguments as in read_array. Returns float64, at most 512 x 512, no number beyond a million.
    Raises AttentionError: rank, too_many_rows, too_many_columns, too_large, and those of read_array.

    >>> read_matrix("b_q.json", b"[[[1, 2, 3]]]", "b_q")
    array([[1., 2., 3.]])
    """
    taken = read_array(file_name, content, name, array)
    matrix = np.atleast_2d(taken.astype(np.float64))
    while matrix.ndim > 2 and len(matrix) == 1:
        matrix = matrix[0]  # (1, ..., rows, columns) -> (..., rows, columns)
    if matrix.ndim > 2:
        raise AttentionError(
            "rank",
            name=name,
            axes="(rows, columns)",
            shape=taken.shape,
        )
    check_limits(name, matrix)
    return matrix


def choose_name(file_name: str, arrays: Mapping[str, np.ndarray], name: str, array: str | None) -> str:
    """Returns the name of the requested array, or of the only candidate."""
    if array is not None:
        if array not in arrays:
            raise AttentionError(
                "unknown_choice",
                name=name,
                choices=list_first_names(arrays),
                given=printable_name(array),
            )
        return array
    if name in arrays:
        return name
    known = find_projection(arrays, name)
    if known is not None:
        return known
    if len(arrays) > 1:
        raise AttentionError(
            "which_array",
            file=printable_name(file_name),
            name=name,
            choices=list_first_names(arrays),
        )
    (only,) = arrays
    return only


def check_limits(name: str, matrix: Float[np.ndarray, "rows columns"]) -> None:
    """Raises AttentionError if a matrix exceeds the limits of a typed one."""
    rows, columns = matrix.shape
    if rows > MAX_ROWS:
        raise AttentionError(
            "too_many_rows",
            name=name,
            given=rows,
            limit=MAX_ROWS,
        )
    if columns > MAX_COLUMNS:
        raise AttentionError(
            "too_many_columns",
            name=name,
            given=columns,
            limit=MAX_COLUMNS,
        )
    too_large = np.abs(matrix) > MAX_MAGNITUDE
    if not too_large.any():
        return
    row, column = first_true(too_large)
    raise AttentionError(
        "too_large",
        limit=int(MAX_MAGNITUDE),
        name=name,
        row=row + 1,
        column=column + 1,
        given=shortest_decimal(matrix[row, column].item()),
    )
