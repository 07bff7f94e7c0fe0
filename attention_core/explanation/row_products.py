"""A row of a step as the product of one row of an operand and a matrix, found from its cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.record.expressions import Ref, Term
from attention_core.record.trace import Trace


@dataclass(frozen=True)
class RowProduct:
    """The cells of the numbers in row x matrix = result; the matrix row by row."""

    row: tuple[Ref, ...]
    matrix: tuple[tuple[Ref, ...], ...]
    result: tuple[Ref, ...]


def find_row_product(trace: Trace, step: str, at: Sequence[int]) -> RowProduct:
    """Find the product that made a row of a step, through steps that only move numbers.

    at: the row's index on all axes but the last. Only for projections without a bias: each term of a number is one
    number of the row times one of the matrix.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> w = torch.ones(2, 3)
    >>> product = find_row_product(attend(torch.eye(2), weights=Weights(w_q=w, w_k=w)), "q", (0, 0, 1))
    >>> product.row[1], product.matrix[1][2]
    (Ref(step='x', index=(0, 1, 1)), Ref(step='w_q', index=(1, 2)))
    """
    result = [Ref(step, (*at, column)) for column in range(trace.step(step).shape[-1])]
    columns = [find_terms(trace, ref) for ref in result]
    row = [factors[0] for factors in columns[0]]
    matrix = [tuple(factors[1] for factors in terms) for terms in zip(*columns, strict=True)]
    return RowProduct(tuple(row), tuple(matrix), tuple(result))


def find_terms(trace: Trace, ref: Ref) -> tuple[Term, ...]:
    """The terms of a cell; of a cell that only copies another one, the terms of that."""
    cell = trace.step(ref.step).operation.cell(ref.index, trace.shapes())
    match cell.terms:
        case ((Ref() as before,),):
            return find_terms(trace, before)
    return cell.terms
