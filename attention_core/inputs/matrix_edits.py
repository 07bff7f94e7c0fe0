"""Writes a matrix as its difference from another, so that a link carries the changed cells and not all of them."""

import re
from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import MAX_MAGNITUDE, from_text, shortest_decimal, to_text
from attention_core.record.errors import AttentionError

EDIT_PATTERN = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")
RANDOM_PATTERN = re.compile(r"random\.([0-9]{1,9})")
MAX_EDITS = 10_000  # changed cells; a matrix with more is written whole


def to_short_text(
    matrix: Float[np.ndarray, "rows columns"],
    base: Float[np.ndarray, "base_rows base_columns"] | None,
    name: str = "matrix",
) -> str:
    """Writes a matrix in its shortest form: whole, or as another matrix of its shape, "~" and the cells that differ.

    Before "~" stands nothing for `base`, "identity" or "zeros". name: the name of the matrix in errors.
    Raises AttentionError as to_text does.

    >>> base = np.zeros((2, 3))
    >>> to_short_text(np.array([[0.0, 0.0, 0.0], [0.0, 7.5, 0.0]]), base)
    '~1.1=7.5'
    >>> to_short_text(np.eye(3), np.ones((3, 3)))
    'identity~'
    """
    starts = {}
    if base is not None and base.shape == matrix.shape:
        starts = {"": base, **named_matrices(matrix.shape)}
    forms = []
    for start, other in starts.items():
        places = changed_cells(matrix, other)
        if len(places) <= MAX_EDITS:
            forms.append(f"{start}~{format_cells(matrix, places)}")
    shortest = min(forms, key=len, default=None)
    if shortest is not None and len(shortest) <= matrix.size:  # the whole text has a character a number at least
        return shortest
    whole = to_text(matrix, name)
    return whole if shortest is None else min(shortest, whole, key=len)


def format_cells(matrix: np.ndarray, places: list[tuple[int, int]]) -> str:
    """Writes some cells of a matrix: 0.1=-2;3.4=7."""
    cells = []
    for row, column in places:
        cell = matrix[row, column].reshape(1, 1)
        number = to_text(cell)
        cells.append(f"{row}.{column}={number}")
    return ";".join(cells)


def scale_to_text(matrix: Float[np.ndarray, "rows columns"], factor: float, name: str = "matrix") -> str:
    """Writes a matrix with every number times a factor. Raises AttentionError as to_text does.

    >>> scale_to_text(np.array([[1.0, -0.5]]), 10)
    '10,-5'
    """
    return to_text(matrix * factor, name)


def named_matrices(shape: tuple[int, int]) -> dict[str, np.ndarray]:
    """The matrices of a shape that a word stands for."""
    return {"identity": np.eye(*shape), "zeros": np.zeros(shape)}


def random_seed(text: str | None) -> int | None:
    """Reads the seed of a random matrix without a changed cell, "random.7~"; None for any other text.

    >>> random_seed("random.7~"), random_seed("random.7~0.0=1"), random_seed("1,2")
    (7, None, None)
    """
    if text is None or not text.endswith("~"):
        return None
    match = RANDOM_PATTERN.fullmatch(text.removesuffix("~"))
    return int(match[1]) if match else None


def starting_matrix(text: str, base: np.ndarray, name: str) -> np.ndarray | None:
    """The matrix that the part before "~" stands for, in the shape of `base`; None where it stands for none."""
    if not text:
        return base
    match = RANDOM_PATTERN.fullmatch(text)
    if match:
        seed = int(match[1])
        return random_matrix(name, base.shape, seed)
    return named_matrices(base.shape).get(text)


def random_rows(
    matrix: Float[np.ndarray, "rows columns"],
    text: str,
    base: Float[np.ndarray, "base_rows base_columns"] | None,
    drawn: Iterable[int],
    name: str = "matrix",
    width: int | None = None,
) -> frozenset[int]:
    """The rows of a matrix in which random numbers are left.

    text: what the matrix was made of, as from_short_text reads it. drawn: the rows of `base` that were drawn at random,
    of which the first `width` columns were; all, where it is None.

    >>> base = np.array([[0.25, 0.5], [1.0, 0.0]])
    >>> random_rows(base, "~", base, drawn=[0]), random_rows(np.array([[7, 0.5], [8, 9]]), "~0.0=7", base, drawn=[0])
    (frozenset({0}), frozenset({0}))
    >>> random_rows(np.eye(2), "identity~", base, drawn=[0]), random_rows(np.eye(2), "1,0;0,1", base, drawn=[0])
    (frozenset(), frozenset())
    """
    first, mark, _ = text.partition("~")
    is_whole = not mark
    is_seeded = not is_whole and RANDOM_PATTERN.fullmatch(first) is not None
    if base is None or base.shape != matrix.shape:
        return frozenset()
    if first and not is_whole and not is_seeded:  # "identity~" and the like hold no random number
        return frozenset()

    start = base
    rows = drawn
    if is_seeded:
        start = starting_matrix(first, base, name)
        rows = range(len(base))
    same = matrix[:, :width] == start[:, :width]
    has_random = same.any(axis=1)
    if is_whole:  # it may hold a random number by accident
        has_random = same.all(axis=1)
    return frozenset(row for row in rows if has_random[row])


def changed_cells(matrix: np.ndarray, base: np.ndarray) -> list[tuple[int, int]]:
    """The places, (row, column), at which two matrices of one shape differ."""
    places = np.argwhere(matrix != base)
    return [(row, column) for row, column in places.tolist()]


def drop_outside_cells(text: str, shape: tuple[int, int]) -> str:
    """Leaves out the changed cells that lie outside a shape: a mask of fewer tokens keeps what still fits.

    >>> drop_outside_cells("~0.1=0;5.5=0", (2, 2)), drop_outside_cells("1,0;0,1", (2, 2))
    ('~0.1=0', '1,0;0,1')
    """
    start, mark, edits = text.partition("~")
    if not mark:
        return text
    inside = []
    for edit in edits.split(";"):
        match = EDIT_PATTERN.fullmatch(edit)
        if match is None or is_inside(match, shape):
            inside.append(edit)
    return f"{start}~" + ";".join(inside)


def from_short_text(
    text: str, base: Float[np.ndarray, "rows columns"] | None, name: str = "matrix"
) -> Float[np.ndarray, "rows columns"]:
    """Reads a matrix that is written whole, or as another matrix, "~" and the cells that differ.

    Before "~" stands nothing for `base`, or "identity", "zeros" or "random.7" (seed 7) in the shape of `base`.

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
        place, number = read_edit(edit, matrix.shape, name)
        matrix[place] = number
    if not (np.abs(matrix) <= MAX_MAGNITUDE).all():
        raise AttentionError("edit_form", name=name, given=text[:20])
    return matrix


def read_edit(edit: str, shape: tuple[int, int], name: str) -> tuple[tuple[int, int], float]:
    """Reads a changed cell, "0.1=-2": its place, and its number."""
    match = EDIT_PATTERN.fullmatch(edit)
    if match is None or not is_inside(match, shape):
        raise AttentionError("edit_form", name=name, given=edit[:20])
    row, column, number = match.groups()
    place = (int(row), int(column))
    matrix = from_text(number, name)  # (1, 1)
    return place, matrix.item()


def is_inside(edit: re.Match, shape: tuple[int, int]) -> bool:
    """Tells whether the place of a changed cell, as EDIT_PATTERN matched it, lies in a shape."""
    rows, columns = shape
    return int(edit[1]) < rows and int(edit[2]) < columns


# ---- chosen numbers of a step ----------------------------------------------------------------------------------------
CHOSEN_CELL_PATTERN = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})=([^;,]{1,30})")


def from_places(text: str, shape: tuple[int, int, int, int], name: str = "scores") -> Float[np.ndarray, "B H T S"]:
    """Reads chosen numbers into their places, with NaN everywhere else; places outside the shape are left out.

    text: as `to_places` writes it. shape: (B, H, T, S). name: the name of the step in errors.
    Raises AttentionError: edit_form, and from_text's for a number.

    >>> from_places("0.0.0.1=2.5;0.0.7.7=1", (1, 1, 1, 2))
    array([[[[nan, 2.5]]]])
    """
    numbers = np.full(shape, np.nan)
    for part in text.split(";") if text else ():
        match = CHOSEN_CELL_PATTERN.fullmatch(part)
        if match is None:
            raise AttentionError("edit_form", name=name, given=part[:20])
        *indices, number = match.groups()
        place = tuple(map(int, indices))
        number = from_text(number, name).item()
        if all(at < size for at, size in zip(place, shape, strict=True)):
            numbers[place] = number
    return numbers


def to_places(numbers: Float[np.ndarray, "B H T S"]) -> str:
    """Writes every number that is not NaN with its place; `from_places` reads the text back exactly.

    >>> to_places(np.array([[[[np.nan, 2.5]]]]))
    '0.0.0.1=2.5'
    """
    is_chosen = ~np.isnan(numbers)
    chosen = []
    for place in np.argwhere(is_chosen).tolist():
        indices = ".".join(str(index) for index in place)
        number = numbers[tuple(place)].item()
        chosen.append(f"{indices}={shortest_decimal(number)}")
    return ";".join(chosen)
