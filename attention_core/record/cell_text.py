"""Writes a cell's arithmetic as parts of a text: plain text, operands, and a subtotal of omitted terms.

The caller formats the operands: `explain` adds the number of each operand and a link to its cell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.record.expressions import Factor, Term, multiply_factors, sum_rounded_once

MAX_SHOWN_TERMS = 12  # a longer sum is written as its largest terms and a subtotal

Numbers = list[list[float]]  # for each term of a cell, the numbers of its factors


@dataclass(frozen=True)
class Written:
    """An operand as a part of a text.

    bracket: whether the operand gets brackets if its own text is negative or a sum.
    """

    factor: Factor
    bracket: bool = False


@dataclass(frozen=True)
class Subtotal:
    """The terms that the text of a long sum omits: their number and their sum."""

    count: int
    total: float


Part = str | Written | Subtotal


def split_largest(sizes: list[float], always: int | None = None) -> tuple[list[int], list[int]]:
    """Return the positions of the terms to show and of the terms to omit, both in ascending order.

    The MAX_SHOWN_TERMS largest terms are shown; the term at position `always` is always among them. NaN and infinite
    sizes count as the largest.

    >>> split_largest([3.0, -5.0, 0.5])
    ([0, 1, 2], [])
    >>> split_largest([0.0] * 12 + [-1.0])
    ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12], [11])
    """

    def rank(i: int) -> tuple[bool, float]:
        size = abs(sizes[i])
        if math.isnan(size):
            size = math.inf
        return i != always, -size

    indices = range(len(sizes))
    ranked = sorted(indices, key=rank)
    shown = ranked[:MAX_SHOWN_TERMS]
    gathered = ranked[MAX_SHOWN_TERMS:]
    return sorted(shown), sorted(gathered)


def product_text(term: Term, bracket: bool = False) -> list[Part]:
    """Return the text a × b × c of a term.

    bracket: whether the first factor gets brackets if it is negative, as all other factors do.
    """
    first, *others = term
    parts: list[Part] = [Written(first, bracket)]
    for factor in others:
        parts += [" × ", Written(factor, bracket=True)]
    return parts


def rest_text(gathered: list[float]) -> list[Part]:
    """Return the text " + (n smaller: subtotal)" for the terms that the text of a long sum omits; [] if it omits none.

    gathered: the values of the omitted terms.
    """
    if not gathered:
        return []
    total = sum_rounded_once(gathered)
    return [" + ", Subtotal(len(gathered), total)]


def sum_text(terms: Sequence[Term], numbers: Numbers) -> list[Part]:
    """Return the text a × b + c × d + ...; if there are many terms, the smallest are written as a subtotal."""
    products = [multiply_factors(term) for term in numbers]
    shown, gathered = split_largest(products)
    parts: list[Part] = []
    for i in shown:
        is_first = not parts
        if not is_first:
            parts.append(" + ")
        parts += product_text(terms[i], bracket=not is_first)
    rest = [products[i] for i in gathered]
    return parts + rest_text(rest)


def distances_text(pairs: list[Term], between: str) -> list[Part]:
    """Return the text |a − b|, |c − d| and so on. between: the text between two distances, such as ", "."""
    parts: list[Part] = []
    for one, other in pairs:
        opening = f"{between}|" if parts else "|"
        parts += [opening, Written(one), " − ", Written(other, bracket=True), "|"]
    return parts


def exp_of_difference_text(one: Factor, other: Factor) -> list[Part]:
    """Return the text exp(a − b)."""
    return ["exp(", Written(one), " − ", Written(other, bracket=True), ")"]
