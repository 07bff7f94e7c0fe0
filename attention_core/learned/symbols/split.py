"""The split into training texts and held-out texts: a text's symbols decide, so that no text is on both sides."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.learned.symbols.alphabet import PAD

SPLIT_MODULUS, HELD_OUT_REMAINDER = 11, 5  # about one text in eleven is held out


def is_held_out(texts: Int[Tensor, "B S"]) -> Bool[Tensor, " B"]:
    r"""Mark the held-out texts: those for which $\sum_i (i + 1) (x_i + 1)$ is 5 modulo 11.

    Padding adds nothing to the sum.

    >>> is_held_out(torch.tensor([[4], [3]]))
    tensor([ True, False])
    """
    length = texts.shape[1]
    places = torch.arange(1, length + 1)  # (S,)
    numbers = texts - PAD  # (B, S), from 1 on; 0 for padding
    terms = numbers * places
    remainders = terms.sum(-1) % SPLIT_MODULUS  # (B,)
    return remainders == HELD_OUT_REMAINDER


def draw_one_side(draw: Callable[[int], tuple[Tensor, ...]], count: int, measured: bool) -> tuple[Tensor, ...]:
    """Sample rows until `count` of them are on one side of the split, and return these rows.

    draw: number -> at least so many rows, as a tuple of tensors, the texts first. measured: whether on the held-out
    side.
    """
    batches: list[tuple[Tensor, ...]] = []
    found = 0
    while found < count:
        drawn = draw(count)
        texts = drawn[0]
        is_wanted = is_held_out(texts) == measured
        batches.append(tuple(part[is_wanted] for part in drawn))
        found += int(is_wanted.sum())
    columns = []
    for parts in zip(*batches, strict=True):
        column = torch.cat(parts)
        columns.append(column[:count])
    return tuple(columns)
