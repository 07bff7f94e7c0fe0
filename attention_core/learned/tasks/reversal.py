"""Defines the task of reversing random letters, for which a network must remember all letters in their order."""

from functools import cache

import torch
from torch import Generator, Tensor

from attention_core.learned.symbols import Alphabet, draw_one_side
from attention_core.learned.tasks.texts import SourceTargetTexts

SOURCE = TARGET = Alphabet(tuple("abcdefghijklmnopqrstuvwxyz"))
SHORTEST_TRAINED, LONGEST_TRAINED = 3, 40  # shortest and longest training text
MEASURED_LENGTHS = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 80, 100)  # also beyond the longest training text
TEXTS_PER_LENGTH = 64  # held-out texts per length


def draw_letters(count: int, length: int, generator: Generator, measured: bool) -> SourceTargetTexts:
    """Sample texts of one length, each with its reverse.

    measured: True for held-out texts, False for training texts.
    """

    def draw_texts(many: int) -> tuple[Tensor]:
        texts = torch.randint(len(SOURCE), (many, length), generator=generator)
        return (texts,)

    (source,) = draw_one_side(draw_texts, count, measured)
    target = source.flip(-1)
    return source, target


def batch(count: int, generator: Generator) -> SourceTargetTexts:
    """Sample a batch of training texts, all of the same length, which is random."""
    length = torch.randint(
        SHORTEST_TRAINED,
        LONGEST_TRAINED + 1,
        (1,),
        generator=generator,
    )
    return draw_letters(count, length.item(), generator, measured=False)


@cache
def held_out() -> dict[int, SourceTargetTexts]:
    """Return {length: sampled held-out texts}."""
    generator = torch.Generator().manual_seed(1)
    texts = {}
    for length in MEASURED_LENGTHS:
        texts[length] = draw_letters(TEXTS_PER_LENGTH, length, generator, measured=True)
    return texts


def answer(text: str) -> str:
    """Return the right output for a text: its symbols in reverse order."""
    return text[::-1]
