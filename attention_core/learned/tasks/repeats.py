"""Symbols drawn at random and then repeated: nothing but the first time tells what comes next the second time."""

from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from attention_core.learned.models.copier import Copier
from attention_core.learned.symbols.alphabet import Alphabet
from attention_core.learned.symbols.split import draw_one_side

SYMBOLS = Alphabet(tuple("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
SHORTEST_HALF, LONGEST_HALF = 6, 24  # symbols that are repeated; no fixed distance back finds the answer
MEASURED_HALF, MEASURED_SEQUENCE_COUNT = 16, 256  # of the sequences that are measured, and how many


def draw_repeated_sequences(count: int, half: int, generator: Generator, measured: bool) -> Int[Tensor, "B 2*half"]:
    """So many sequences of symbols that all differ, each followed by itself. measured: those of the side that is never
    trained."""

    def draw(many: int) -> tuple[Tensor]:
        return (torch.rand(many, len(SYMBOLS), generator=generator).argsort(-1)[:, :half],)

    (first,) = draw_one_side(draw, count, measured)
    return torch.cat((first, first), -1)


def batch(count: int, generator: Generator) -> tuple[Int[Tensor, "B T"]]:
    """Sequences of a length that is drawn."""
    half = torch.randint(SHORTEST_HALF, LONGEST_HALF + 1, (1,), generator=generator).item()
    return (draw_repeated_sequences(count, int(half), generator, measured=False),)


@cache
def held_out() -> Int[Tensor, "256 32"]:
    """Sequences that are never trained."""
    return draw_repeated_sequences(
        MEASURED_SEQUENCE_COUNT, MEASURED_HALF, torch.Generator().manual_seed(1), measured=True
    )


def accuracy(model: Copier, kept: Float[Tensor, "layers 2"] | None = None) -> Float[Tensor, "31"]:
    """How often the symbol that is meant most is the next one, by position. kept: which heads are on, see Copier."""
    right = model.logits(held_out()[:, :-1], kept).argmax(-1) == held_out()[:, 1:]  # (B, T - 1)
    return right.double().mean(0)
