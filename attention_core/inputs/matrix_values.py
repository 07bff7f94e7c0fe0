"""The matrices of a setting as values that can be hashed and compared: numbers, changed cells, or no matrix.

matrix_link.py reads and writes their text in a link; matrix_edits.py computes the numbers of a run from them.
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

import numpy as np
from jaxtyping import Float

from attention_core.inputs.initial_matrices import random_matrix

NAMED_STARTS = ("identity", "zeros")
CELL_WIDTH = 3  # numbers per changed cell: its row, its column, and the number in it
CHOSEN_WIDTH = 5  # numbers per chosen number: batch, head, query, key, and the number
DIGEST_BYTES = 16

Start = Literal["base", "identity", "zeros"] | int  # a whole number is the seed of random numbers


@dataclass(frozen=True)
class PackedNumbers:
    """An array of float64 as bytes, with a digest that is computed once.

    Its hash, equality and repr use the digest alone, so that -0 differs from 0. shape: of the array. data: the numbers
    of the array, row by row.

    >>> PackedNumbers.of(np.eye(2)) == PackedNumbers.of([[1, 0], [0, 1]])
    True
    """

    shape: tuple[int, ...] = field(compare=False)
    data: bytes = field(compare=False, repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Computes the digest."""
        digest = blake2b(repr(self.shape).encode(), digest_size=DIGEST_BYTES)
        digest.update(self.data)
        object.__setattr__(self, "digest", digest.hexdigest())

    @classmethod
    def of(cls, array: Float[np.ndarray, "..."]) -> "PackedNumbers":
        """Packs an array."""
        numbers = np.ascontiguousarray(array, dtype=np.float64)
        return cls(numbers.shape, numbers.tobytes())

    def array(self) -> Float[np.ndarray, "..."]:
        """The numbers, as a read-only array."""
        return np.frombuffer(self.data).reshape(self.shape)


NO_CELLS = PackedNumbers.of(np.zeros((0, CELL_WIDTH)))


@dataclass(frozen=True)
class WholeMatrix:
    """All numbers of a matrix.

    spelling: the link's text that the matrix was read from, if write_matrix would write another text ("1.0" for 1), so
    that the link stays unchanged; else "".
    """

    packed: PackedNumbers
    spelling: str = ""


@dataclass(frozen=True)
class ChangedCells:
    """Another matrix with some cells changed.

    start: the matrix before the changes: "base", the matrix without this value; or, in the shape of the base,
    "identity", "zeros", or the seed of random numbers. cells: a row (row, column, number) for each changed cell.
    spelling: as in WholeMatrix.
    """

    start: Start = "base"
    cells: PackedNumbers = NO_CELLS
    spelling: str = ""


@dataclass(frozen=True)
class RemovedMatrix:
    """No matrix: the layer has no such projection or bias."""


@dataclass(frozen=True)
class UnreadableMatrix:
    """A text of a link that is no matrix. A run that needs the matrix raises the error, with its name."""

    text: str


@dataclass(frozen=True)
class ChosenNumbers:
    """Numbers that replace some computed scores or weights.

    cells: a row (batch, head, query, key, number) for each number. spelling: as in WholeMatrix.
    """

    cells: PackedNumbers
    spelling: str = ""


ChosenValue = ChosenNumbers | UnreadableMatrix
MatrixValue = WholeMatrix | ChangedCells | RemovedMatrix | UnreadableMatrix
UNCHANGED = ChangedCells()
REMOVED = RemovedMatrix()


def count_packed_bytes(value: MatrixValue) -> int:
    """The number of bytes of a value's numbers; 0 if it has none."""
    match value:
        case WholeMatrix(packed=packed) | ChangedCells(cells=packed):
            return len(packed.data)
    return 0


def starting_matrix(
    start: Start, base: Float[np.ndarray, "rows columns"], name: str
) -> Float[np.ndarray, "rows columns"]:
    """The matrix before the changes of a ChangedCells. name: of the matrix, which random numbers depend on.

    >>> starting_matrix("identity", np.zeros((1, 2)), "w_q")
    array([[1., 0.]])
    """
    if start == "base":
        return base
    if start == "identity":
        return np.eye(*base.shape)
    if start == "zeros":
        return np.zeros(base.shape)
    return random_matrix(name, base.shape, start)
