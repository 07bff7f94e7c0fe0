"""One cell of a step as an expression: a function of terms, each a product of operands.

An operation writes a Cell for any index. The number, the sentence and the links to the operands are all read off it,
so they cannot disagree with each other, and a test evaluates every cell of every step from its operands alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ref:
    """A number that stands in another step."""

    step: str
    index: tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """A number of the operation itself; `text` says where it comes from, such as "1/√2"."""

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
    """One function of a cell's terms.

    value: from the numbers of every term's factors to the cell's number. text: from the terms and those numbers to the
    parts of its text (cell_text).
    """

    value: Callable[[list[list[float]]], float]
    text: Callable[[Sequence[Term], list[list[float]]], list]


@dataclass(frozen=True)
class Cell:
    """The terms, and what makes a number of them: one of CELL_FUNCTIONS by its name, or a function of its own.

    times: what that number is multiplied by.
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
    """The number that a factor stands for."""
    if isinstance(factor, Constant):
        return factor.value
    return float(lookup(factor))


def multiply_factors(term: list[float]) -> float:
    """The product of a term's factors."""
    return math.prod(term)


def sum_rounded_once(values: list[float]) -> float:
    """The sum, correctly rounded; one that overflows is summed as it comes.

    >>> sum_rounded_once([0.1] * 10), sum_rounded_once([1e308, 1e308])
    (1.0, inf)
    """
    rough = sum(values)
    return math.fsum(values) if math.isfinite(rough) else rough


def exp_or_infinity(exponent: float) -> float:
    """exp of a number; infinite where that is more than a float holds.

    >>> exp_or_infinity(0.0), exp_or_infinity(1001.0)
    (1.0, inf)
    """
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
