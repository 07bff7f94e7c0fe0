"""The least change of a matrix that gives a word another vector, applied when the user drags q, a key or a value."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.mechanism.operations import PASS_ON, PROJECT, SPLIT
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

KEPT_DECIMALS = 10  # decimals of a changed matrix: further ones are rounding errors


@dataclass(frozen=True)
class VectorSource:
    """The source of the vectors of q, k or v.

    kind: "product" if the vectors are `source` times the matrix `weight`; "given" if they are an input themselves;
    "same" if they are `source`, which other steps read too; "turned" if another step follows the product.
    """

    kind: str
    source: str
    weight: str | None = None


def find_vector_source(trace: Trace, role: str) -> VectorSource:
    """Finds the source of the vectors of a role. role: "q", "k" or "v".

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

    Of all matrices that make q' of x it has the least distance to W, measured as the root of the sum of squares. Its
    change has rank one: another word's vector moves too, in proportion to the overlap of its x with this x.

    matrix: W, D rows. x: the vector that it is applied to. change: q' - q, d numbers, without unit; a bias does not
    matter, because it is in both. first: the first of the d columns of this vector; those of other heads are kept.
    If vectors are an input, `matrix` has them as rows and x is one-hot.

    Raises AttentionError: zero_vector if x is 0, since then x W is 0 for any W.

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
    own[:] = np.where(added == 0, own, (own + added).round(KEPT_DECIMALS) + 0.0)  # makes -0 a 0
    return moved
