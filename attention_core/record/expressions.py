"""One cell of a step as an expression: a function of terms, each a product of operands.

An operation writes a Cell for any index. The number, the sentence and the links to the operands all come from it,
so they cannot disagree with each other, and a test evaluates every cell of every step from its operands alone.
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
    """A number of the operation itself; `text` is written instead of its digits, such as "1/√2"."""

    value: float
    text: str = ""


Factor = Ref | Constant
Term = tuple[Factor, ...]  # a product


@dataclass(frozen=True)
class Operand:
    """An operand's name and shape: indexing it gives the Ref, as in `q[b, h, t, m]`."""

    name: str
    shape: tuple[int, ...]

    def __getitem__(self, index) -> Ref:
        if not isinstance(index, tuple):
            index = (index,)
        positions = []
        for i, size in zip(index, self.shape, strict=True):
            broadcasts = size == 1  # every index along such an axis means its only entry
            positions.append(0 if broadcasts else i)
        return Ref(self.name, tuple(positions))


@dataclass(frozen=True)
class CellFunction:
    """A function of a cell's terms.

    value: maps the numbers of every term's factors to the cell's number. text: maps the terms and those numbers to the
    parts of the cell's text (cell_text).
    """

    value: Callable[[list[list[float]]], float]
    text: Callable[[Sequence[Term], list[list[float]]], list]


@dataclass(frozen=True)
class Cell:
    """The arithmetic of one cell: a function of terms; by name one of CELL_FUNCTIONS, or a separate CellFunction.

    times: a constant by which the result is multiplied.
    """

    terms: tuple[Term, ...]
    function: str | CellFunction = "sum"
    times: Constant | None = None


def product_cell(*factors: Factor) -> Cell:
    """A cell that is one product."""
    return Cell((factors,))


def row_terms(operand: Operand, row: tuple[int, ...], length: int) -> list[Term]:
    """The numbers of a row, each as a term; row: its index, without the last axis."""
    terms = []
    for position in range(length):
        number = operand[(*row, position)]
        terms.append((number,))
    return terms


def factor_value(factor: Factor, lookup: Callable[[Ref], float]) -> float:
    """The number of a factor: of a constant its value, of a Ref what `lookup` returns."""
    if isinstance(factor, Constant):
        return factor.value
    return float(lookup(factor))


def multiply_factors(term: list[float]) -> float:
    """The product of a term's factors."""
    return math.prod(term)


def sum_rounded_once(values: list[float]) -> float:
    """The sum, correctly rounded; the plain sum if that overflows.

    >>> sum_rounded_once([0.1] * 10), sum_rounded_once([1e308, 1e308])
    (1.0, inf)
    """
    rough = sum(values)
    return math.fsum(values) if math.isfinite(rough) else rough


def exp_or_infinity(exponent: float) -> float:
    """exp of a number; infinite if that is more than a float can hold.

    >>> exp_or_infinity(0.0), exp_or_infinity(1001.0)
    (1.0, inf)
    """
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
