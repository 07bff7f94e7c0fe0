"""One cell of a step as an expression: terms, each a product of operands, under one outer function.

An operation writes a Cell for any index. The number, the sentence and the links to the operands are all read off it,
so they cannot disagree with each other, and a test evaluates every cell of every step from its operands alone.
"""

import math
from collections.abc import Callable
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


@dataclass(frozen=True)
class Operand:
    """An operand's name and shape: indexing it gives the Ref, as in `q[b, h, t, m]`."""

    name: str
    shape: tuple[int, ...]

    def __getitem__(self, index) -> Ref:
        index = index if isinstance(index, tuple) else (index,)
        # an axis of length 1 broadcasts: every index along it means its only entry
        return Ref(self.name, tuple(0 if size == 1 else i for i, size in zip(index, self.shape, strict=True)))


@dataclass(frozen=True)
class Cell:
    """`outer` applied to the terms. What each outer function does with them stands in OUTERS."""

    terms: tuple[tuple[Factor, ...], ...]
    outer: str = "sum"


def evaluate(cell: Cell, lookup: Callable[[Ref], float]) -> float:
    """The cell's number in double precision, its operands taken from `lookup`.

    >>> cell = Cell(((Ref("q", (0,)), Constant(2.0)), (Constant(1.0),)))
    >>> evaluate(cell, {Ref("q", (0,)): 3.0}.__getitem__)
    7.0
    """
    terms = [[factor_value(factor, lookup) for factor in term] for term in cell.terms]
    return OUTERS[cell.outer](terms)


def factor_value(factor: Factor, lookup: Callable[[Ref], float]) -> float:
    """The number that a factor stands for."""
    return factor.value if isinstance(factor, Constant) else float(lookup(factor))


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


def _sum(terms):
    return sum_rounded_once([multiply_factors(term) for term in terms])


def _exp(terms):
    return exp_or_infinity(_sum(terms))


def _exp_below(terms):
    """exp of how far the first term lies below the largest of all the others, which are the row."""
    chosen, *row = map(multiply_factors, terms)
    return exp_or_infinity(chosen - max(row))


def _fall(terms):
    """exp of the first term less the second; 0 where the first is minus infinity."""
    one, other = map(multiply_factors, terms)
    return 0.0 if one == -math.inf else exp_or_infinity(one - other)


def _max(terms):
    return max(map(multiply_factors, terms))


def _quotient(terms):
    """The first term over the sum of all the others; inf / inf and 0 / 0 are no number."""
    chosen, *row = map(multiply_factors, terms)
    whole = sum_rounded_once(row)
    return chosen / whole if whole else math.nan


def _tanh(terms):
    return math.tanh(_sum(terms))


def _sin(terms):
    return math.sin(_sum(terms))


def _cos(terms):
    return math.cos(_sum(terms))


def _select(terms):
    """The first term where the second (a truth value) holds, else the third, minus infinity where there is none."""
    value, condition, *other = map(multiply_factors, terms)
    return value if condition else other[0] if other else -math.inf


def _choose(terms):
    """The second term where the third (a truth value) holds, else the first."""
    value, chosen, condition = map(multiply_factors, terms)
    return chosen if condition else value


def _softmax(terms):
    """exp of the first term over the sum of exp of all the others, which are the row; 0 where the row is blocked."""
    chosen, *row = map(multiply_factors, terms)
    top = max(row)
    if top == -math.inf:
        return 0.0
    return math.exp(chosen - top) / math.fsum(math.exp(score - top) for score in row)


def _share(terms):
    """The first term over the sum of all the others, 0 where that sum is 0."""
    chosen, *row = map(multiply_factors, terms)
    return chosen / math.fsum(row) if any(row) else 0.0


def _round(terms):
    """The first term with as many decimals as the second says, a half away from 0."""
    value, digits = map(multiply_factors, terms)
    unit = 10.0**digits
    return math.copysign(math.floor(abs(value) * unit + 0.5) / unit, value)


def _slope(terms):
    """The first term times what is left of the second without the third."""
    weight, one, other = map(multiply_factors, terms)
    return weight * (one - other)


def _alike(terms):
    """1 less half the sum of |a - b|, where each term is a pair a, b."""
    return 1 - math.fsum(abs(one - other) for one, other in terms) / 2


def _farthest(terms):
    """The largest |a - b|, where each term is a pair a, b."""
    return max(abs(one - other) for one, other in terms)


def _cosine(terms):
    """The sum of the products over the lengths of their two vectors (the first factors, the second factors)."""
    left, right = zip(*terms, strict=True)
    return _sum(terms) / (max(math.hypot(*left), MIN_VECTOR_LENGTH) * max(math.hypot(*right), MIN_VECTOR_LENGTH))


MIN_VECTOR_LENGTH = 1e-8  # a vector shorter than this counts as this long, so that the zero vector has cosine 0

OUTERS = {
    "sum": _sum,
    "tanh": _tanh,
    "sin": _sin,
    "cos": _cos,
    "exp": _exp,
    "exp_below": _exp_below,
    "fall": _fall,
    "max": _max,
    "quotient": _quotient,
    "round": _round,
    "slope": _slope,
    "select": _select,
    "choose": _choose,
    "softmax": _softmax,
    "share": _share,
    "alike": _alike,
    "farthest": _farthest,
    "cosine": _cosine,
}
