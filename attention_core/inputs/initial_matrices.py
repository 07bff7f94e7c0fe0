"""Samples weight matrices for a run if the user gave none, and resizes them if the number or width of heads changes."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from attention_core.inputs.tokenizer import word_vector


def random_matrix(name: str, shape: tuple[int, int], seed: int = 0) -> Float[np.ndarray, "rows columns"]:
    """Samples a weight matrix with variance 1/rows, rounded to two decimals; a name and a seed give the same matrix on
    any machine.

    shape: rows (the width of its input) and columns, at most 512 columns. Raises AttentionError: at_most.

    >>> random_matrix("w_q", (4, 2), seed=1).shape
    (4, 2)
    """
    return draw_rounded_matrix(name, shape, seed).copy()


@lru_cache(maxsize=16)  # cached, because sampling is slow and runs need the same matrices; at most 2 MB each
def draw_rounded_matrix(name: str, shape: tuple[int, int], seed: int) -> Float[np.ndarray, "rows columns"]:
    """Samples a weight matrix with variance 1/rows, to two decimals, without checking its size.

    The result is cached, so callers must not write into it.
    """
    rows, columns = shape
    draws = []
    for row in range(rows):
        draws.append(word_vector(f"{name}[{row}]", columns, seed))
    matrix = np.array(draws) / np.sqrt(rows)
    return matrix.round(2) + 0.0  # + 0.0 turns -0 into 0


def recut_heads(
    matrix: Float[np.ndarray, "rows width"],
    heads: int,
    wanted: tuple[int, int],
    fill: Float[np.ndarray, "rows wanted_width"] | None = None,
) -> Float[np.ndarray, "rows wanted_width"]:
    """Resizes the columns of a projection for another number or width of heads; each remaining head keeps the columns
    that fit.

    heads: the number of heads before. wanted: the new number of heads, and the new width of each head. fill: the matrix
    from which new columns are taken; zeros if None.

    >>> recut_heads(np.array([[1.0, 2.0, 3.0, 4.0]]), heads=2, wanted=(3, 3))
    array([[1., 2., 0., 3., 4., 0., 0., 0., 0.]])
    """
    count, width = wanted
    rows = len(matrix)
    if fill is None:
        fill = np.zeros((rows, count * width))
    old = matrix.reshape(rows, heads, -1)  # (rows, H * d) -> (rows, H, d)
    new = fill.reshape(rows, count, width).copy()
    kept_heads = slice(min(heads, count))
    kept_columns = slice(min(old.shape[2], width))
    new[:, kept_heads, kept_columns] = old[:, kept_heads, kept_columns]
    return new.reshape(rows, count * width)  # (rows, H', d') -> (rows, H' * d')
