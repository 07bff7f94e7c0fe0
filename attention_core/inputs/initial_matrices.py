"""Weight matrices to start from, where a person has not given any."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from attention_core.inputs.tokenizer import word_vector


def random_matrix(name: str, shape: tuple[int, int], seed: int = 0) -> Float[np.ndarray, "rows columns"]:
    """A weight matrix of random numbers with two decimals, variance 1/rows, the same on any machine.

    name, seed: what it is drawn from. shape: rows (the width it reads) and columns, at most 512 of these.
    Raises AttentionError: at_most.

    >>> random_matrix("w_q", (4, 2), seed=1).shape
    (4, 2)
    """
    return draw_rounded_matrix(name, shape, seed).copy()


@lru_cache(maxsize=16)  # of at most 2 MB each: they are slow to draw, and every change asks for them again
def draw_rounded_matrix(name: str, shape: tuple[int, int], seed: int) -> Float[np.ndarray, "rows columns"]:
    """The numbers of random_matrix, kept; nobody may write into them."""
    rows, columns = shape
    draws = [word_vector(f"{name}[{row}]", columns, seed) for row in range(rows)]
    return np.round(np.array(draws) / np.sqrt(rows), 2) + 0.0  # no minus before a zero


def zero_matrix(shape: tuple[int, int]) -> Float[np.ndarray, "rows columns"]:
    """A matrix of zeros: words that say nothing, so that positions are seen alone.

    >>> zero_matrix((1, 2))
    array([[0., 0.]])
    """
    return np.zeros(shape)


def recut_heads(
    matrix: Float[np.ndarray, "rows width"],
    heads: int,
    wanted: tuple[int, int],
    fill: Float[np.ndarray, "rows wanted_width"] | None = None,
) -> Float[np.ndarray, "rows wanted_width"]:
    """The columns of a projection cut for other heads: each head that stays keeps the columns that still fit.

    heads: how many it was cut into. wanted: how many heads, and how wide each. fill: what stands in new columns, zeros
    where it is None.

    >>> recut_heads(np.array([[1.0, 2.0, 3.0, 4.0]]), heads=2, wanted=(3, 3))
    array([[1., 2., 0., 3., 4., 0., 0., 0., 0.]])
    """
    count, width = wanted
    old = matrix.reshape(len(matrix), heads, -1)  # (rows, H d) -> (rows, H, d)
    new = np.zeros((len(matrix), count, width)) if fill is None else fill.reshape(len(matrix), count, width).copy()
    kept = min(heads, count), min(old.shape[2], width)
    new[:, : kept[0], : kept[1]] = old[:, : kept[0], : kept[1]]
    return new.reshape(len(matrix), count * width)  # (rows, H', d') -> (rows, H' d')
