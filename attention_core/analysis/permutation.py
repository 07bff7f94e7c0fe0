"""The same words in another order: attention without positions gives every word what it gave it before."""

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.mechanism.config import require_not_negative, require_positive
from attention_core.record.trace import Trace


def shuffle_order(count: int, seed: int) -> tuple[int, ...]:
    """Which of `count` words stands at each place after they were shuffled, the same on any machine.

    Never as they stood, where there are two or more. Raises AttentionError for numbers that are not whole, or below 0.

    >>> shuffle_order(5, seed=1)
    (4, 0, 1, 2, 3)
    """
    order = (
        np.random.default_rng(require_not_negative("seed", seed)).permutation(require_positive("count", count)).tolist()
    )
    return tuple(order[1:] + order[:1] if order == sorted(order) else order)


def distance_after_reordering(
    permuted: Trace, plain: Trace, order: tuple[int, ...], step: str = "output"
) -> Float[Tensor, " T"]:
    """How far each word's numbers are from those that it had before the words were put into another order.

    permuted: the run of the words in that order. plain: that of the words as they stood. order: which word stands at
    each place. step: one with axes (B, T, width). Returns the largest difference of each word, in its place in `plain`:
    all 0, but for rounding, where attention knows no positions. Source: Lee et al. 2019, Set Transformer, property 1.

    >>> import torch
    >>> from attention_core import attend
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]).double()
    >>> distance_after_reordering(attend(x[[2, 0, 1]]), attend(x), (2, 0, 1)).max() < 1e-12
    tensor(True)
    """
    there = sorted(range(len(order)), key=order.__getitem__)  # where each word of `plain` stands now
    return abs_difference(permuted[step][:, there], plain[step]).amax((0, 2))  # (B, T, width) -> (T,)
