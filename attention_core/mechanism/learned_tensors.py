"""Declares the tensors that mechanisms learn besides the projections.

Checks, axis names, LaTeX symbols, links and initial matrices are made from these declarations, so that a new tensor
needs one line.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation

Shape = tuple[int, ...]
Sizes = Mapping[str, int]  # the letter of an axis -> the length of the axis
Start = Callable[[int, int], np.ndarray]  # (rows, columns) -> initial values


@dataclass(frozen=True)
class LearnedTensor:
    """The declaration of a tensor that a mechanism learns.

    name: its field in Weights. dims: its axes; a letter other than the run's (H, H_kv, d_q, d_k, d_v, D, D_kv, D_out)
    belongs to this mechanism, and its size is read from the tensor; H·d is the width of all heads together. symbol: its
    letter in LaTeX. by_head: whether it may have a leading axis H, one tensor per head. start: a function of rows and
    columns that returns the initial values in the app (a vector is one row); None samples them from the seed.
    own_sizes: initial sizes of the letters that belong to the mechanism; by default the width of a head. makes_weights:
    whether the attention weights depend on the tensor.

    Raises ValueError if `start` returns another count of rows or columns.
    """

    name: str
    dims: tuple[str, ...]
    symbol: str
    by_head: bool = False
    start: Start | None = None
    own_sizes: Mapping[str, int] = field(default_factory=dict)
    makes_weights: bool = True

    def __post_init__(self):
        if self.start is not None and self.start(4, 3).shape != (4, 3):
            raise ValueError(f"what {self.name} begins with must have as many rows and columns as are asked for")

    def axes(self, letters: Mapping[str, str]) -> tuple[str, ...]:
        """Returns the names of the tensor's axes in a run; a repeated name gets a prime.

        letters: axis letter -> the run's name of that axis, if it differs.

        >>> LearnedTensor("w_a", ("d_q", "d_k"), "W_a").axes({"d_q": "d_k"})
        ('d_k', "d_k'")
        """
        named: list[str] = []
        for dim in self.dims:
            letter = letters.get(dim, dim)
            named.append(f"{letter}'" if letter in named else letter)
        return tuple(named)

    def shape(self, sizes: Sizes) -> Shape:
        """Returns the tensor's shape in a run with these sizes, without a leading head axis."""
        return tuple(size_of(dim, sizes) for dim in self.dims)


def size_of(dim: str, sizes: Sizes) -> int:
    """Returns the length of an axis; for a combined axis such as H·d_v, the product of the lengths of H and d_v.

    >>> size_of("H·d_v", {"H": 3, "d_v": 2})
    6
    """
    return math.prod(sizes[letter] for letter in dim.split("·"))


# ---- initial values on a page ----------------------------------------------------------------------------------------
def zeros(rows: int, columns: int) -> np.ndarray:
    """Returns zeros, the initial values of a tensor that adds nothing at first."""
    return np.zeros((rows, columns))


def ones(rows: int, columns: int) -> np.ndarray:
    """Returns ones, the initial values of a tensor that changes no product at first."""
    return np.ones((rows, columns))


def unit_columns(rows: int, columns: int) -> np.ndarray:
    """Returns a matrix of equal numbers, scaled so that each column has length 1.

    >>> unit_columns(4, 1).tolist()
    [[0.5], [0.5], [0.5], [0.5]]
    """
    return np.full((rows, columns), rows**-0.5)


def first_columns(rows: int, columns: int) -> np.ndarray:
    """Returns the identity cut to this shape, a projection that keeps the first components of a vector.

    >>> first_columns(3, 2).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    return np.eye(rows, columns)


# ---- sizes and checks ------------------------------------------------------------------------------------------------
def add_own_sizes(declared: Iterable[LearnedTensor], shapes: Mapping[str, Shape], sizes: Sizes) -> dict[str, int]:
    """Returns the sizes of a run, to which the sizes of a mechanism's own axis letters are added.

    The size of a letter is read from the tensor with the fewest axes among those that have this letter. shapes: the
    shapes of the tensors, by name.

    >>> add_own_sizes([LearnedTensor("v_a", ("A",), "v_a")], {"v_a": (3,)}, {"d_k": 2})
    {'d_k': 2, 'A': 3}
    """
    known = dict(sizes)
    for tensor in by_axes(declared):
        shape = shapes[tensor.name]
        for place, dim in enumerate(reversed(tensor.dims), 1):
            if dim not in known and "·" not in dim:
                known[dim] = shape[-place] if place <= len(shape) else 0
    return known


def check_learned(declared: Iterable[LearnedTensor], shapes: Mapping[str, Shape], sizes: Sizes) -> None:
    """Checks that every declared tensor has the right shape.

    shapes: the shapes of the tensors, by name. sizes: the lengths of all axes, by letter.

    Raises AttentionError: weight_shape.
    """
    for tensor in by_axes(declared):
        shape = shapes[tensor.name]
        fitting = [tensor.shape(sizes)]
        if tensor.by_head:
            fitting.append((sizes["H"], *fitting[0]))
        if shape not in fitting:
            axes = " or ".join(f"({write_axes(tensor, each)})" for each in fitting)
            raise AttentionError("weight_shape", weight=tensor.name, axes=axes, shape=shape)


def write_axes(tensor: LearnedTensor, shape: Shape) -> str:
    """Returns the text of a shape for an error; an axis of unknown size (0) is written as the letter of the axis.

    >>> write_axes(LearnedTensor("w_a", ("rows", "d_k"), "W_a"), (0, 3))
    'rows, 3'
    >>> write_axes(LearnedTensor("sinks", ("H",), "s"), (2,))
    '2,'
    """
    letters = ("H", *tensor.dims)[-len(shape) :]
    axes = ", ".join(str(size or letter) for size, letter in zip(shape, letters, strict=True))
    return axes if len(shape) > 1 else f"{axes},"


def by_axes(declared: Iterable[LearnedTensor]) -> list[LearnedTensor]:
    """Returns the tensors sorted by the count of their axes, the fewest first."""
    return sorted(declared, key=lambda tensor: len(tensor.dims))


def check_wired(operations: Iterable[Operation], given: Iterable[str], declared: Iterable[LearnedTensor]) -> None:
    """Checks that operations read only existing names, and that each declared tensor is read.

    given: the names of the steps that exist before these operations. Raises ValueError: a run would fail at a missing
    name, and would ignore a tensor that is not read.
    """
    names = {tensor.name for tensor in declared}
    known = {*given, *names}
    read: set[str] = set()
    for operation in operations:
        unknown = sorted(set(operation.reads) - known)
        if unknown:
            raise ValueError(f"{operation.output} reads {', '.join(unknown)}, which nothing gives")
        read.update(operation.reads)
        known.add(operation.output)
    unread = sorted(names - read)
    if unread:
        raise ValueError(f"nothing reads {', '.join(unread)}")
