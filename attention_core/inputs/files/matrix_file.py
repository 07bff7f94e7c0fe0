"""Reads one matrix from a file: an array that this app or a library names like the matrix, or else the only array."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from attention_core.inputs.files.array_names import PARTS_PATTERN, last_name, plain_name
from attention_core.inputs.files.contents import FileContents, read_contents
from attention_core.inputs.files.stored_arrays import first_true, list_first_names, printable_name, refuse_not_finite
from attention_core.inputs.matrix_text import MAX_COLUMNS, MAX_MAGNITUDE, MAX_ROWS, shortest_decimal
from attention_core.record.errors import AttentionError


def read_matrix_file(file_name: str, content: bytes) -> FileContents:
    """Return the arrays of a file and the errors of those that could not be read; there must be at least one array.

    Raises AttentionError: no_arrays, the error of an array that could not be read, and those of read_contents.
    """
    contents = read_contents(file_name, content)
    if not contents.arrays:
        raise next(iter(contents.unread.values()), AttentionError("no_arrays", name=printable_name(file_name)))
    return contents


def read_array(
    file_name: str, content: bytes, name: str, array: str | None = None, minus_infinity: bool = False
) -> np.ndarray:
    """Read one array of a file.

    The array is `array` if given, else the one that this app or a library names like the matrix, else the only one. The
    weight of a PyTorch linear layer is transposed: see turn_projection.

    name: the matrix to read, such as "w_q"; errors quote it. minus_infinity: whether −∞ is allowed. file_name, content:
    the name of the file and its bytes. The array must be finite; other arrays of the file are not checked.

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
    """Read one array of a file as a matrix; a vector (n,) becomes (1, n), and leading axes of length 1 are dropped.

    name: the matrix to read, such as "w_q"; errors quote it. array: the name of the array; None to choose it by the
    name of the matrix. Returns float64, at most 512 x 512, with no magnitude above a million. Raises AttentionError:
    rank, too_many_rows, too_many_columns, too_large, and those of read_array.

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
    """Return the name of the array to read: `array` if given, else an array that is named like the matrix, else the
    only array.

    name: the matrix to read. An array is named like the matrix if this app or a library gives the matrix this name.

    >>> choose_name("x.npz", {"attn.k_proj.weight": np.eye(2), "attn.q_proj.weight": np.eye(2)}, "w_q", None)
    'attn.q_proj.weight'
    """
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
    known = next((given for given in arrays if projection_of(given, name)), None)
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
    """Raise AttentionError if a matrix has more rows, more columns or larger numbers than this app allows for a
    matrix.
    """
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


# ---- the matrices of a layer under the names of libraries, transposed to this project's convention: x W --------------
# Names of PyTorch's linear layers, which store W as (out, in), because they compute x Wᵀ.
LINEAR_NAMES = {
    "q": ("q_proj", "query", "query_proj", "q", "to_q", "q_lin", "wq", "linear_q"),
    "k": ("k_proj", "key", "key_proj", "k", "to_k", "k_lin", "wk", "linear_k"),
    "v": ("v_proj", "value", "value_proj", "v", "to_v", "v_lin", "wv", "linear_v"),
    "o": ("o_proj", "out_proj", "output_proj", "o", "to_out", "out_lin", "wo", "linear_out"),
}
THIRDS = {"q": 0, "k": 1, "v": 2}


def projection_of(given: str, name: str) -> str:
    """Return how a file's array stores the matrix `name`: "plain", "linear" (transposed), or "packed" (q, k and v
    together).

    Returns "" if the array's name does not mean that matrix.
    """
    kind, _, letter = name.partition("_")
    if letter not in LINEAR_NAMES or kind not in ("w", "b"):
        return ""
    last = last_name(given)
    if plain_name(given) in (name, f"{kind}{letter}"):
        return "plain"
    parts = [part for part in PARTS_PATTERN.split(given) if part]
    ending = "weight" if kind == "w" else "bias"
    if last == ending and len(parts) > 1 and last_name(parts[-2]) in LINEAR_NAMES[letter]:
        return "linear"
    if last.removesuffix(f"_{ending}") in LINEAR_NAMES[letter] and last.endswith(f"_{ending}"):
        return "linear"
    return "packed" if last == f"in_proj_{ending}" and letter in THIRDS else ""


def turn_projection(array: np.ndarray, given: str, name: str) -> np.ndarray:
    """Convert an array to the matrix `name` in this project's layout: (in, out), heads as consecutive column blocks.

    given: the array's name in the file. The weight of a linear layer is transposed. If one weight packs q, k and v, the
    third of `name` is taken. W_Q of TransformerLens (H, D, d) becomes (D, H d), and W_O (H, d, D) becomes (H d, D).

    >>> turn_projection(np.array([[1, 2], [3, 4], [5, 6]]), "q_proj.weight", "w_q").tolist()
    [[1, 3, 5], [2, 4, 6]]
    """
    how = projection_of(given, name)
    if how == "packed" and len(array) % 3 == 0:
        array = np.split(array, 3)[THIRDS[name[-1]]]
    if how in ("linear", "packed") and array.ndim == 2:
        return array.T
    if how == "plain" and array.ndim == 3 and name == "w_o":
        return array.reshape(-1, array.shape[-1])  # (H, d, D) -> (H d, D)
    if how == "plain" and array.ndim == 3:
        return array.swapaxes(0, 1).reshape(array.shape[1], -1)  # (H, D, d) -> (D, H d)
    if how == "plain" and name.startswith("b_") and array.ndim == 2:
        return array.reshape(1, -1)  # (H, d) -> (1, H d)
    return array
