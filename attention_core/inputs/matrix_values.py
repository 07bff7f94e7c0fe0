"""Defines the matrices of a setting as hashable values: all numbers of a matrix, changed cells of another, or no
matrix.

matrix_link.py parses and writes the text of such values in a link; matrix_edits.py computes the numbers of a run from
them.
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

import numpy as np
from jaxtyping import Float

from attention_core.inputs.initial_matrices import random_matrix

NAMED_STARTS = ("identity", "zeros")
CELL_WIDTH = 3  # numbers per changed cell: row, column, number
CHOSEN_WIDTH = 5  # numbers per typed number: batch, head, query, key, number
DIGEST_BYTES = 16

Start = Literal["base", "identity", "zeros"] | int  # matrix before the changes; an int is a seed of random numbers


@dataclass(frozen=True)
class PackedNumbers:
    """A float64 array as bytes, with a digest that is computed once.

    Hash, equality and repr use the digest alone, so that -0 differs from 0. shape: the shape of the array. data: the
    bytes of its numbers, row by row.

    >>> PackedNumbers.of(np.eye(2)) == PackedNumbers.of([[1, 0], [0, 1]])
    True
    """

    shape: tuple[int, ...] = field(compare=False)
    data: bytes = field(compare=False, repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Computes the digest of `shape` and `data`, by which PackedNumbers are compared."""
        digest = blake2b(repr(self.shape).encode(), digest_size=DIGEST_BYTES)
        digest.update(self.data)
        object.__setattr__(self, "digest", digest.hexdigest())

    @classmethod
    def of(cls, array: Float[np.ndarray, "..."]) -> "PackedNumbers":
        """Returns an array as PackedNumbers."""
        numbers = np.ascontiguousarray(array, dtype=np.float64)
        return cls(numbers.shape, numbers.tobytes())

    def array(self) -> Float[np.ndarray, "..."]:
        """Returns the numbers as a read-only array."""
        return np.frombuffer(self.data).reshape(self.shape)


NO_CELLS = PackedNumbers.of(np.zeros((0, CELL_WIDTH)))


@dataclass(frozen=True)
class WholeMatrix:
    """A matrix given by all its numbers.

    spelling: the text in the link from which the matrix was parsed, if write_matrix would write another text ("1.0" for
    1), so that the link stays unchanged; otherwise "".
    """

    packed: PackedNumbers
    spelling: str = ""


@dataclass(frozen=True)
class ChangedCells:
    """A matrix given as another matrix with some changed cells.

    start: the matrix before the changes. It is "base", the default matrix; or, in the same shape, "identity", "zeros",
    or the seed of random numbers. cells: a row (row, column, number) for each changed cell. spelling: the text in the
    link if write_matrix would write another text; otherwise "".
    """

    start: Start = "base"
    cells: PackedNumbers = NO_CELLS
    spelling: str = ""


@dataclass(frozen=True)
class RemovedMatrix:
    """A matrix or bias that the visitor removed: the layer does without this projection or bias."""


@dataclass(frozen=True)
class UnreadableMatrix:
    """A link's text that describes no matrix.

    A run that needs the matrix raises the error of the text together with the matrix's name.
    """

    text: str


@dataclass(frozen=True)
class ChosenNumbers:
    """Numbers that the visitor typed to replace computed scores or weights.

    cells: a row (batch, head, query, key, number) for each typed number. spelling: the text in the link if write_matrix
    would write another text; otherwise "".
    """

    cells: PackedNumbers
    spelling: str = ""


ChosenValue = ChosenNumbers | UnreadableMatrix
MatrixValue = WholeMatrix | ChangedCells | RemovedMatrix | UnreadableMatrix
UNCHANGED = ChangedCells()
REMOVED = RemovedMatrix()


def starting_matrix(
    start: Start, base: Float[np.ndarray, "rows columns"], name: str
) -> Float[np.ndarray, "rows columns"]:
    """Returns the matrix whose cells a ChangedCells changes: `base`, or another matrix of the same shape.

    name: the name of the matrix; random numbers depend on it.

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
