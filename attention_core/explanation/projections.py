"""Writes the projection of a word's vector with its numbers, with vectors as rows, $q = x W_q$, or as columns, $q = W
x$.

Both conventions give the same numbers: the matrix of one is the transpose of the other's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.expressions import Ref, Term
from attention_core.record.number_text import format_fixed
from attention_core.record.trace import Trace

CONVENTIONS = ("rows", "columns")


def projection_in(convention: str, trace: Trace, head: int = 0, query: int = 0, batch: int = 0) -> str:
    r"""Write the projection of one word's query in LaTeX with its numbers, with vectors as rows or as columns.

    Rows: $q = x W_q$; columns: $q = W_q^\top x$. convention: one of CONVENTIONS. trace: a run with x (B, T, D), w_q (D,
    H d_k) and q (B, H, T, d_k), in which no bias or positions are added between x and q. head, query, batch: the
    indices of the query.

    Raises AttentionError (a ValueError): unknown_choice; KeyError if the run has no projection. Sources: rows as in
    Vaswani et al. 2017, section 3.2.2; columns as in Bahdanau et al. 2015, appendix A.1.2.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> w = torch.tensor([[3.0], [4.0]])
    >>> trace = attend(torch.tensor([[1.0, 2.0]]), weights=Weights(w_q=w, w_k=w))
    >>> print(projection_in("rows", trace))
    \begin{bmatrix}1.00 & 2.00\end{bmatrix} \begin{bmatrix}3.00 \\ 4.00\end{bmatrix} = \begin{bmatrix}11.00\end{bmatrix}
    >>> print(projection_in("columns", trace))
    \begin{bmatrix}3.00 & 4.00\end{bmatrix} \begin{bmatrix}1.00 \\ 2.00\end{bmatrix} = \begin{bmatrix}11.00\end{bmatrix}
    """
    require_one_of("convention", convention, CONVENTIONS)
    q = trace["q"][batch, head, query]  # (d_k,)
    x = trace["x"][batch, query]  # (D,)
    d_k = len(q)
    w_q = trace["w_q"][:, head * d_k : (head + 1) * d_k]  # (D, H * d_k) -> (D, d_k): this head's block of columns
    written = {
        "rows": (x[None], w_q, q[None]),  # (1, D), (D, d_k), (1, d_k)
        "columns": (w_q.T, x[:, None], q[:, None]),  # (d_k, D), (D, 1), (d_k, 1)
    }
    left, right, product = map(matrix_latex, written[convention])
    return f"{left} {right} = {product}"


def matrix_latex(matrix: Float[Tensor, "rows columns"]) -> str:
    """Write a matrix in LaTeX, with two decimals."""
    lines = [" & ".join(map(format_fixed, row)) for row in matrix.tolist()]
    rows = r" \\ ".join(lines)
    return rf"\begin{{bmatrix}}{rows}\end{{bmatrix}}"


# ---- a row of a step, found from its cells ---------------------------------------------------------------------------
@dataclass(frozen=True)
class RowProduct:
    """The cells of a product row x matrix = result.

    row, result: the cells of the row and of the result. matrix: the cells of the matrix, one tuple per row.
    """

    row: tuple[Ref, ...]
    matrix: tuple[tuple[Ref, ...], ...]
    result: tuple[Ref, ...]


def find_row_product(trace: Trace, step: str, at: Sequence[int]) -> RowProduct:
    """Find the matrix product that computed a row of a step, even if later steps only copied the row.

    at: the row's index on all axes but the last. Only for projections without a bias, in which each term is a number of
    the row times a number of the matrix.

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
    """Return the terms of a cell; if the cell only copies another cell, return the terms of that cell."""
    cell = trace.step(ref.step).operation.cell(ref.index, trace.shapes())
    match cell.terms:
        case ((Ref() as before,),):
            return find_terms(trace, before)
    return cell.terms
