"""Defines the task of continuing a random sequence that is repeated once; only its second half can be predicted."""

from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from attention_core.learned.models.copier import Copier
from attention_core.learned.symbols import Alphabet, draw_one_side

SYMBOLS = Alphabet(tuple("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
SHORTEST_HALF, LONGEST_HALF = 6, 24  # possible lengths of the first half, many, so that no fixed distance predicts
MEASURED_HALF, MEASURED_SEQUENCE_COUNT = 16, 256  # held-out sequences: length of the first half, number of sequences


def draw_repeated_sequences(count: int, half: int, generator: Generator, measured: bool) -> Int[Tensor, "B 2*half"]:
    """Sample sequences of `half` different symbols, each followed by the same symbols again.

    measured: True for held-out sequences, False for training sequences.
    """

    def draw_halves(many: int) -> tuple[Tensor]:
        keys = torch.rand(many, len(SYMBOLS), generator=generator)
        orders = keys.argsort(-1)  # (more than count, symbols): a random order of the symbols per row
        halves = orders[:, :half]
        return (halves,)

    (first,) = draw_one_side(draw_halves, count, measured)
    return torch.cat((first, first), -1)


def batch(count: int, generator: Generator) -> tuple[Int[Tensor, "B T"]]:
    """Sample a batch of training sequences, all of the same length, which is random."""
    half = torch.randint(
        SHORTEST_HALF,
        LONGEST_HALF + 1,
        (1,),
        generator=generator,
    )
    sequences = draw_repeated_sequences(count, half.item(), generator, measured=False)
    return (sequences,)


@cache
def held_out() -> Int[Tensor, "256 32"]:
    """Sample the held-out sequences."""
    generator = torch.Generator().manual_seed(1)
    return draw_repeated_sequences(MEASURED_SEQUENCE_COUNT, MEASURED_HALF, generator, measured=True)


def accuracy(model: Copier, switches: Float[Tensor, "layers 2"] | None = None) -> Float[Tensor, "31"]:
    """Measure the share of right predictions at each position of the held-out sequences.

    A prediction is right if the most probable symbol is the next one. switches: per layer and head, 1 for an active
    head and 0 for an ablated head; None for all heads active.
    """
    sequences = held_out()
    given = sequences[:, :-1]  # (B, T - 1)
    wanted = sequences[:, 1:]  # (B, T - 1)
    logits = model.logits(given, switches)  # (B, T - 1, symbols)
    is_right = logits.argmax(-1) == wanted
    return is_right.double().mean(0)
