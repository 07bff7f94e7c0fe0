"""Describes a cell of a step as an expression: a function of terms, each of which is a product of operands.

An operation returns a Cell for any index. The cell's number, its text and the links to its operands are computed from
the Cell, so that they agree. A test evaluates every cell of every step from its operands alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ref:
    """A reference to one number of a step, by the step's name and an index."""

    step: str
    index: tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """A constant in an operation; `text`, such as "1/√2", is shown instead of its digits."""

    value: float
    text: str = ""


Factor = Ref | Constant
Term = tuple[Factor, ...]  # a product of factors


@dataclass(frozen=True)
class Operand:
    """An operand's name and shape. Indexing it gives a Ref, as in `q[b, h, t, m]`."""

    name: str
    shape: tuple[int, ...]

    def __getitem__(self, index) -> Ref:
        if not isinstance(index, tuple):
            index = (index,)
        positions = []
        for i, size in zip(index, self.shape, strict=True):
            broadcasts = size == 1  # an axis of size 1 broadcasts: each index along it means its only entry
            positions.append(0 if broadcasts else i)
        return Ref(self.name, tuple(positions))


@dataclass(frozen=True)
class CellFunction:
    """A function of a cell's terms.

    value: a function from the numbers of all factors to the cell's number. text: a function from the terms and those
    numbers to the parts of the cell's text (cell_text).
    """

    value: Callable[[list[list[float]]], float]
    text: Callable[[Sequence[Term], list[list[float]]], list]


@dataclass(frozen=True)
class Cell:
    """The arithmetic of one cell: a function of terms.

    function: a name in CELL_FUNCTIONS, or a CellFunction. times: a constant by which the result is multiplied.
    """

    terms: tuple[Term, ...]
    function: str | CellFunction = "sum"
    times: Constant | None = None


def product_cell(*factors: Factor) -> Cell:
    """Return a cell that is a single product."""
    return Cell((factors,))


def row_terms(operand: Operand, row: tuple[int, ...], length: int) -> list[Term]:
    """Return the numbers of an operand's row, each as a term.

    row: the index of the row, without the last axis.
    """
    terms = []
    for position in range(length):
        number = operand[(*row, position)]
        terms.append((number,))
    return terms


def factor_value(factor: Factor, lookup: Callable[[Ref], float]) -> float:
    """Return the number of a factor: the value of a constant, or what `lookup` returns for a Ref."""
    if isinstance(factor, Constant):
        return factor.value
    return float(lookup(factor))


def multiply_factors(term: list[float]) -> float:
    """Return the product of a term's factors."""
    return math.prod(term)


def sum_rounded_once(values: list[float]) -> float:
    """Return the sum of numbers, rounded only once at the end (math.fsum); the plain sum if fsum overflows.

    >>> sum_rounded_once([0.1] * 10), sum_rounded_once([1e308, 1e308])
    (1.0, inf)
    """
    rough = sum(values)
    return math.fsum(values) if math.isfinite(rough) else rough


def exp_or_infinity(exponent: float) -> float:
    """Return exp of a number; infinity if a float cannot hold it.

    >>> exp_or_infinity(0.0), exp_or_infinity(1001.0)
    (1.0, inf)
    """
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
