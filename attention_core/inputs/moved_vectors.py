"""Computes the smallest change of a weight matrix that gives a word the vector to which a visitor drags its q, k or
v.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.mechanism.operations import PASS_ON, PROJECT, SPLIT
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

KEPT_DECIMALS = 10  # decimals of a changed matrix; further digits are rounding errors


@dataclass(frozen=True)
class VectorSource:
    """How the vectors q, k or v of a run are computed, and whether a weight matrix can move them.

    kind: "product" if the vectors are the step `source` times the matrix `weight`; "given" if the vectors are an input;
    "same" if the vectors are the step `source` itself, which other steps read too; "turned" if another operation, such
    as a rotation, follows the product.
    """

    kind: str
    source: str
    weight: str | None = None


def find_vector_source(trace: Trace, role: str) -> VectorSource:
    """Returns how the vectors q, k or v of a run are computed.

    role: the name of the vectors, "q", "k" or "v".

    >>> import torch
    >>> from attention_core import Weights, attend, attend_qkv
    >>> find_vector_source(attend(torch.eye(3), weights=Weights(w_q=torch.eye(3))), "q")
    VectorSource(kind='product', source='x', weight='w_q')
    >>> find_vector_source(attend_qkv(torch.eye(3), torch.eye(3), torch.eye(3)), "v").kind
    'given'
    """
    step = trace.step(role)
    while step.operation is not None and step.operation.faces in (SPLIT, PASS_ON):
        step = trace.step(step.operation.reads[0])
    if step.operation is None:
        return VectorSource("given" if step.name == role else "same", step.name)
    if step.operation.faces != PROJECT:
        return VectorSource("turned", step.name)
    source, weight, *_ = step.operation.reads
    return VectorSource("product", source, weight)


def least_change(
    matrix: Float[np.ndarray, "D columns"],
    x: Float[np.ndarray, " D"],
    change: Float[np.ndarray, " d"],
    first: int = 0,
) -> Float[np.ndarray, "D columns"]:
    r"""Returns the matrix closest to W whose product with x differs from x W by `change`.

    .. math:: W' = W + \frac{x^\top (q' - q)}{x x^\top}

    Among all matrices that map x to q', it has the least distance to W, measured as the root of the sum of squares. The
    change has rank one, so another word's vector moves too, in proportion to the dot product of its x with this x.

    matrix: W, D rows. x: the vector that is multiplied by W. change: q' - q, d numbers without unit; a bias cancels,
    because both q' and q include it. first: the index of the first of the d columns that produce this vector; columns
    of other heads stay. If the vectors are an input, `matrix` has them as rows and x is one-hot.

    Raises AttentionError: zero_vector if x is 0, because then x W is 0 for any W.

    C. G. Broyden, A class of methods for solving nonlinear simultaneous equations, Mathematics of Computation 19
    (1965), 577-593, equation (4.5).

    >>> least_change(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]), np.array([2.0, -4.0]))
    array([[ 2., -2.],
           [ 1., -1.]])
    """
    squared_length = float(x @ x)
    if squared_length == 0:
        raise AttentionError("zero_vector")
    last = first + len(change)
    moved = np.array(matrix, dtype=np.float64)
    own = moved[:, first:last]  # (D, d)
    added = np.outer(x, change) / squared_length  # (D,), (d,) -> (D, d)
    own[:] = np.where(added == 0, own, (own + added).round(KEPT_DECIMALS) + 0.0)  # + 0.0 turns -0 into 0
    return moved
