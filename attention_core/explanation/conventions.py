r"""The two ways to write a projection: a row times a matrix, $q = x W_q$, or a matrix times a column, $q = W x$.

Both are the same numbers: the matrix of one is the transpose of the other's.
"""

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.number_text import format_fixed
from attention_core.record.trace import Trace

CONVENTIONS = ("rows", "columns")


def projection_in(convention: str, trace: Trace, head: int = 0, query: int = 0, batch: int = 0) -> str:
    r"""Write one word's query with its numbers, $q = x W_q$ in rows or $q = W_q^\top x$ in columns, in LaTeX.

    convention: one of CONVENTIONS. trace: a run with x (B, T, D), w_q (D, H d_k) and q (B, H, T, d_k), no bias and no
    positions in between. head, query, batch: whose query. Raises AttentionError (a ValueError): unknown_choice;
    KeyError if the run has no projection.
    Source: rows as in Vaswani et al. 2017, section 3.2.2; columns as in Bahdanau et al. 2015, appendix A.1.2.

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
