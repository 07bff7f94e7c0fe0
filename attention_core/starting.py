"""Weight matrices to start from, where a person has not given any."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from attention_core.tokens import word_vector


def random_matrix(name: str, shape: tuple[int, int], seed: int = 0) -> Float[np.ndarray, "rows columns"]:
    """A weight matrix of random numbers with two decimals, variance 1/rows, the same on any machine.

    name, seed: what it is drawn from. shape: rows (the width it reads) and columns, at most 512 of these.
    Raises AttentionError: at_most.

    >>> random_matrix("w_q", (4, 2), seed=1).shape
    (4, 2)
    """
    return drawn(name, shape, seed).copy()


@lru_cache(maxsize=16)  # of at most 2 MB each: they are slow to draw, and every change asks for them again
def drawn(name: str, shape: tuple[int, int], seed: int) -> Float[np.ndarray, "rows columns"]:
    """The numbers of random_matrix, kept; nobody may write into them."""
    rows, columns = shape
    draws = [word_vector(f"{name}[{row}]", columns, seed) for row in range(rows)]
    return np.round(np.array(draws) / np.sqrt(rows), 2) + 0.0  # no minus before a zero


def first_heads(matrix: Float[np.ndarray, "rows width"], heads: int, kept: int) -> Float[np.ndarray, "rows kept_width"]:
    """The columns of the first `kept` of `heads` heads; the matrix itself where its width is not cut so.

    >>> first_heads(np.arange(8.0).reshape(2, 4), heads=2, kept=1)
    array([[0., 1.],
           [4., 5.]])
    """
    width = matrix.shape[1]
    return matrix if width % heads else matrix[:, : width // heads * kept]
