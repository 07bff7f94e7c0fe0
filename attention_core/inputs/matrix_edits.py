"""A matrix as the difference from another: a link carries the one cell that was changed, not all of them."""

import re

import numpy as np
from jaxtyping import Float

from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import MAX_MAGNITUDE, from_text, shortest_decimal, to_text
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

EDIT_PATTERN = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")
RANDOM_PATTERN = re.compile(r"random\.([0-9]{1,9})")
MAX_EDITS = 10_000  # cells: a matrix that differs in more is no small change of another


def to_short_text(
    matrix: Float[np.ndarray, "rows columns"],
    base: Float[np.ndarray, "base_rows base_columns"] | None,
    name: str = "matrix",
) -> str:
    """The shortest form of a matrix: all of it, or a matrix of the shape of `base`, "~" and the cells that differ.

    Before "~" stands nothing for `base` itself, "identity" or "zeros". name: how errors call the matrix.
    Raises AttentionError as to_text does.

    >>> base = np.zeros((2, 3))
    >>> to_short_text(np.array([[0.0, 0.0, 0.0], [0.0, 7.5, 0.0]]), base)
    '~1.1=7.5'
    >>> to_short_text(np.eye(3), np.ones((3, 3)))
    'identity~'
    """
    starts = {} if base is None or matrix.shape != base.shape else {"": base, **named_matrices(matrix.shape)}
    forms = []
    for start, other in starts.items():
        places = changed_cells(matrix, other)
        if len(places) <= MAX_EDITS:
            cells = [f"{row}.{column}={to_text(matrix[row : row + 1, column : column + 1])}" for row, column in places]
            forms.append(f"{start}~" + ";".join(cells))
    shortest = min(forms, key=len, default=None)
    if shortest is not None and len(shortest) <= matrix.size:  # a whole text has a sign a number at least
        return shortest
    whole = to_text(matrix, name)
    return whole if shortest is None else min(shortest, whole, key=len)


def scale_to_text(matrix: Float[np.ndarray, "rows columns"], factor: float, name: str = "matrix") -> str:
    """The text of a matrix with every number times a factor. Raises AttentionError as to_text does.

    >>> scale_to_text(np.array([[1.0, -0.5]]), 10)
    '10,-5'
    """
    return to_text(matrix * factor, name)


def named_matrices(shape: tuple[int, int]) -> dict[str, np.ndarray]:
    """Matrices that a word stands for."""
    return {"identity": np.eye(*shape), "zeros": np.zeros(shape)}


def random_seed(text: str | None) -> int | None:
    """The seed of a text that stands for a random matrix with no cell changed, "random.7~"; else None.

    >>> random_seed("random.7~"), random_seed("random.7~0.0=1"), random_seed("1,2")
    (7, None, None)
    """
    match = RANDOM_PATTERN.fullmatch(text[:-1]) if text and text.endswith("~") else None
    return int(match[1]) if match else None


def starting_matrix(text: str, base: np.ndarray, name: str) -> np.ndarray | None:
    """The matrix that the part before "~" stands for, in the shape of `base`."""
    if not text:
        return base
    match = RANDOM_PATTERN.fullmatch(text)
    return random_matrix(name, base.shape, int(match[1])) if match else named_matrices(base.shape).get(text)


def changed_cells(matrix: np.ndarray, base: np.ndarray) -> list[tuple[int, int]]:
    """The cells in which two matrices of one shape differ."""
    return [(int(row), int(column)) for row, column in np.argwhere(matrix != base)]


def drop_outside_cells(text: str, shape: tuple[int, int]) -> str:
    """A text without the changed cells that lie outside a shape: a mask of fewer tokens keeps what still fits.

    >>> drop_outside_cells("~0.1=0;5.5=0", (2, 2)), drop_outside_cells("1,0;0,1", (2, 2))
    ('~0.1=0', '1,0;0,1')
    """
    start, mark, edits = text.partition("~")
    if not mark:
        return text
    inside = []
    for edit in edits.split(";"):
        match = EDIT_PATTERN.fullmatch(edit)
        if match is None or (int(match[1]) < shape[0] and int(match[2]) < shape[1]):
            inside.append(edit)
    return start + mark + ";".join(inside)


def from_short_text(
    text: str, base: Float[np.ndarray, "rows columns"] | None, name: str = "matrix"
) -> Float[np.ndarray, "rows columns"]:
    """The matrix that a text describes: all its numbers; or before "~" nothing for `base`, "identity", "zeros" or
    "random.7" (seed 7) in the shape of `base`, and behind it the cells that differ.

    Raises AttentionError: edit_form for a text that is neither, or for a cell outside `base`; and as from_text does.

    >>> from_short_text("~0.1=-2", np.zeros((1, 2)))
    array([[ 0., -2.]])
    >>> from_short_text("identity~0.1=-2", np.zeros((2, 2)))
    array([[ 1., -2.],
           [ 0.,  1.]])
    """
    first, mark, edits = text.partition("~")
    if not mark:
        return from_text(text, name)
    start = None if base is None else starting_matrix(first, base, name)
    if start is None:
        raise AttentionError("edit_form", name=name, given=text[:20])
    matrix = np.array(start, dtype=float)
    for edit in edits.split(";") if edits else ():
        match = EDIT_PATTERN.fullmatch(edit)
        row, column = (int(match[1]), int(match[2])) if match else (-1, -1)
        if not (0 <= row < matrix.shape[0] and 0 <= column < matrix.shape[1]):
            raise AttentionError("edit_form", name=name, given=edit[:20])
        matrix[row, column] = from_text(match[3], name)[0, 0]
    if not (np.abs(matrix) <= MAX_MAGNITUDE).all():
        raise AttentionError("edit_form", name=name, given=text[:20])
    return matrix


CHOSEN_CELL_PATTERN = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")


def from_places(text: str, shape: tuple[int, int, int, int], name: str = "scores") -> Float[np.ndarray, "B H T S"]:
    """The chosen numbers in their places, NaN everywhere else; places outside the shape are left out.

    text: as `to_places` writes it. shape: (B, H, T, S). name: how errors call the step.
    Raises AttentionError: edit_form, and from_text's for a number.

    >>> from_places("0.0.0.1=2.5;0.0.7.7=1", (1, 1, 1, 2))
    array([[[[nan, 2.5]]]])
    """
    numbers = np.full(shape, np.nan)
    for part in text.split(";") if text else ():
        match = CHOSEN_CELL_PATTERN.fullmatch(part)
        if match is None:
            raise AttentionError("edit_form", name=name, given=part[:20])
        place = tuple(int(match[axis]) for axis in range(1, 5))
        number = from_text(match[5], name)[0, 0]
        if all(at < size for at, size in zip(place, shape, strict=True)):
            numbers[place] = number
    return numbers


def to_places(numbers: Float[np.ndarray, "B H T S"]) -> str:
    """The text that `from_places` reads back exactly: every number that is not NaN, with its place.

    >>> to_places(np.array([[[[np.nan, 2.5]]]]))
    '0.0.0.1=2.5'
    """
    places = np.argwhere(~np.isnan(numbers)).tolist()
    return ";".join(f"{b}.{h}.{i}.{j}={shortest_decimal(numbers[b, h, i, j].item())}" for b, h, i, j in places)


def transpose_to_chosen(trace: Trace, step: str = "weights") -> str:
    """A step's numbers with queries and keys exchanged, as chosen numbers of another run.

    So the weights of one direction can be tried, wrongly, as those of the other.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> transpose_to_chosen(attend_qkv(torch.zeros(1, 3), torch.zeros(2, 3), torch.zeros(2, 3)))
    '0.0.0.0=0.5;0.0.1.0=0.5'
    """
    return to_places(trace.step(step).window().swapaxes(-1, -2))
