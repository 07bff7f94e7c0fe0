"""The same words in another order: attention without positions gives every word the same numbers as before."""

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.mechanism.plain_checks import require_not_negative, require_positive
from attention_core.record.trace import Trace


def shuffle_order(count: int, seed: int) -> tuple[int, ...]:
    """Sample a shuffle of `count` words: which word is at each position; the same on any machine.

    Two or more words never keep their order. Raises AttentionError for numbers that are not whole, a seed below 0 and a
    count below 1.

    >>> shuffle_order(5, seed=1)
    (4, 0, 1, 2, 3)
    """
    generator = np.random.default_rng(require_not_negative("seed", seed))
    order = generator.permutation(require_positive("count", count)).tolist()
    if order == sorted(order):
        order = order[1:] + order[:1]
    return tuple(order)


def distance_after_reordering(
    permuted: Trace, plain: Trace, order: tuple[int, ...], step: str = "output"
) -> Float[Tensor, " T"]:
    """Measure how far each word's numbers move if the words are put into another order.

    permuted: the run of the words in that order. plain: the run of the words in the first order. order: which word
    is at each position. step: one with axes (B, T, width).

    Returns the largest difference of each word, at its position in `plain`: all 0, up to rounding, for attention
    without positions. Source: Lee et al. 2019, Set Transformer, property 1.

    >>> import torch
    >>> from attention_core import attend
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]).double()
    >>> distance_after_reordering(attend(x[[2, 0, 1]]), attend(x), (2, 0, 1)).max() < 1e-12
    tensor(True)
    """
    words = range(len(order))
    places = sorted(words, key=order.__getitem__)  # the position of each word of `plain` now
    restored = permuted[step][:, places]  # (B, T, width)
    distances = abs_difference(restored, plain[step])
    return distances.amax((0, 2))  # (B, T, width) -> (T,)
