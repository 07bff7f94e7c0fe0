"""A single wrong number: the term of its sum that was left out, added twice, or taken with the wrong sign."""

from dataclasses import dataclass

from attention_core.exercises.worked_example import CheckedWork
from attention_core.explanation.arithmetic import number_at
from attention_core.record.expressions import Ref, multiply_factors

TERM_CHANGES = {"left_out": -1.0, "sign": -2.0, "twice": 1.0}  # mistake -> how many times too often a term is added


@dataclass(frozen=True)
class WrongSum:
    """The only wrong number of a step, and the single mistake with the terms of its sum that gives it, if any.

    kind: "left_out", "sign", "twice" (of the term with these factors), "minus" (of the whole), else "other". own: the
    number computed from the written numbers before it.
    """

    cell: Ref
    written: float
    own: float
    kind: str = "other"
    factors: tuple[float, ...] = ()


def find_wrong_sum(checked: CheckedWork, cell: Ref) -> WrongSum:
    """Find the mistake in the sum of a wrong number; kind "other" if no mistake gives it, or several do."""
    marked = checked.marked[cell.step]
    written = marked.theirs[cell.index].item()
    own = marked.own[cell.index].item()
    allowed = checked.rounding(cell.step)
    if own and abs(written + own) <= allowed:
        return WrongSum(cell, written, own, "minus")
    found = {}
    for factors in written_terms(checked, cell):
        term = multiply_factors(factors)
        if abs(term) <= allowed:
            continue
        for kind, times in TERM_CHANGES.items():
            gap = abs(written - own - times * term)
            if gap <= allowed:
                found.setdefault(kind, factors)
    if len(found) != 1:
        return WrongSum(cell, written, own)
    ((kind, factors),) = found.items()
    return WrongSum(cell, written, own, kind, tuple(factors))


def written_terms(checked: CheckedWork, cell: Ref) -> list[list[float]]:
    """Return the written factors of each term of a cell that is a sum; [] for a cell of a single term."""
    operation = checked.trace.step(cell.step).operation
    expression = operation.cell(cell.index, checked.written.shapes())
    if expression.function != "sum" or len(expression.terms) < 2:
        return []
    terms = []
    for term in expression.terms:
        numbers = [number_at(checked.written, factor) for factor in term]
        terms.append(numbers)
    return terms
