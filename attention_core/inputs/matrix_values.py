"""The matrices of a setting as values that can be hashed and compared: numbers, changed cells, or no matrix.

matrix_link.py reads and writes the text that a link has for them; matrix_edits.py makes the numbers of a run of them.
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

import numpy as np
from jaxtyping import Float

from attention_core.inputs.initial_matrices import random_matrix

NAMED_STARTS = ("identity", "zeros")
CELL_WIDTH = 3  # numbers that say a changed cell: its row, its column, and the number in it
CHOSEN_WIDTH = 5  # numbers that say a chosen one: batch, head, query, key, and the number
DIGEST_BYTES = 16

Start = Literal["base", "identity", "zeros"] | int  # a whole number is the seed of random numbers


@dataclass(frozen=True)
class PackedNumbers:
    """An array of float64 as bytes, with a digest that is made once.

    To hash it, to compare it and to print it, the digest is used and no number is read: -0 is another number than 0.
    shape: of the array. data: its numbers, row by row.

    >>> PackedNumbers.of(np.eye(2)) == PackedNumbers.of([[1, 0], [0, 1]])
    True
    """

    shape: tuple[int, ...] = field(compare=False)
    data: bytes = field(compare=False, repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Makes the digest."""
        digest = blake2b(repr(self.shape).encode(), digest_size=DIGEST_BYTES)
        digest.update(self.data)
        object.__setattr__(self, "digest", digest.hexdigest())

    @classmethod
    def of(cls, array: Float[np.ndarray, "..."]) -> "PackedNumbers":
        """Packs an array."""
        numbers = np.ascontiguousarray(array, dtype=np.float64)
        return cls(numbers.shape, numbers.tobytes())

    def array(self) -> Float[np.ndarray, "..."]:
        """The numbers, as an array that cannot be written to."""
        return np.frombuffer(self.data).reshape(self.shape)


NO_CELLS = PackedNumbers.of(np.zeros((0, CELL_WIDTH)))


@dataclass(frozen=True)
class WholeMatrix:
    """All numbers of a matrix.

    spelling: the text of the link that it was read from, if write_matrix would write another one ("1.0" for 1), so that
    the link stays as it is.
    """

    packed: PackedNumbers
    spelling: str = ""


@dataclass(frozen=True)
class ChangedCells:
    """Another matrix with some cells changed.

    start: the matrix before the changes: "base", as it would be without this value; or, in the shape of the base,
    "identity", "zeros", or the seed of random numbers. cells: a row (row, column, number) for each changed cell.
    spelling: as in WholeMatrix.
    """

    start: Start = "base"
    cells: PackedNumbers = NO_CELLS
    spelling: str = ""


@dataclass(frozen=True)
class RemovedMatrix:
    """No matrix: the layer does without this projection or bias."""


@dataclass(frozen=True)
class UnreadableMatrix:
    """A text of a link that is no matrix. It is refused when a run needs the matrix, which knows its name and shape."""

    text: str


@dataclass(frozen=True)
class ChosenNumbers:
    """Numbers in the place of some computed scores or weights.

    cells: a row (batch, head, query, key, number) for each. spelling: as in WholeMatrix.
    """

    cells: PackedNumbers
    spelling: str = ""


ChosenValue = ChosenNumbers | UnreadableMatrix
MatrixValue = WholeMatrix | ChangedCells | RemovedMatrix | UnreadableMatrix
UNCHANGED = ChangedCells()
REMOVED = RemovedMatrix()


def count_packed_bytes(value: MatrixValue) -> int:
    """The bytes of a value's numbers."""
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
