"""Which texts are trained and which are only ever measured: their own symbols decide, so that none is on both sides."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.learned.symbols.alphabet import PAD

SPLIT_MODULUS, HELD_OUT_REMAINDER = 11, 5  # one of eleven


def is_held_out(texts: Int[Tensor, "B S"]) -> Bool[Tensor, " B"]:
    r"""Which texts are only measured: where $\sum_i (i + 1) (x_i + 1)$ is 5 modulo 11, padding left out.

    >>> is_held_out(torch.tensor([[4], [3]]))
    tensor([ True, False])
    """
    places = torch.arange(1, texts.shape[1] + 1)
    return ((texts - PAD) * places).sum(-1) % SPLIT_MODULUS == HELD_OUT_REMAINDER


def draw_one_side(draw: Callable[[int], tuple[Tensor, ...]], count: int, measured: bool) -> tuple[Tensor, ...]:
    """So many of what is drawn, all of one side. draw: gives at least so many, the texts first."""
    rows: list[tuple[Tensor, ...]] = []
    while sum(len(each[0]) for each in rows) < count:
        drawn = draw(count)
        own = is_held_out(drawn[0]) == measured
        rows.append(tuple(each[own] for each in drawn))
    return tuple(torch.cat(parts)[:count] for parts in zip(*rows, strict=True))
