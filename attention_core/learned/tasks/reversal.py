"""Letters, to be written in reverse: nothing but the order decides, and the whole text must be kept."""

from functools import cache

import torch
from torch import Generator, Tensor

from attention_core.learned.symbols.alphabet import Alphabet
from attention_core.learned.symbols.split import draw_one_side
from attention_core.learned.tasks.texts import SourceTargetTexts

SOURCE = TARGET = Alphabet(tuple("abcdefghijklmnopqrstuvwxyz"))
SHORTEST_TRAINED, LONGEST_TRAINED = 3, 40  # of the texts that are trained
MEASURED_LENGTHS = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 80, 100)  # lengths
TEXTS_PER_LENGTH = 64  # texts of a length


def draw_letters(count: int, length: int, generator: Generator, measured: bool) -> SourceTargetTexts:
    """Texts of one length, drawn, and the same from behind. measured: those of the side that is never trained."""

    def draw(many: int) -> tuple[Tensor]:
        return (torch.randint(len(SOURCE), (many, length), generator=generator),)

    (source,) = draw_one_side(draw, count, measured)
    return source, source.flip(-1)


def batch(count: int, generator: Generator) -> SourceTargetTexts:
    """Texts of a length that is drawn."""
    length = torch.randint(SHORTEST_TRAINED, LONGEST_TRAINED + 1, (1,), generator=generator).item()
    return draw_letters(count, int(length), generator, measured=False)


@cache
def held_out() -> dict[int, SourceTargetTexts]:
    """Texts that are never trained, of each measured length."""
    generator = torch.Generator().manual_seed(1)
    return {length: draw_letters(TEXTS_PER_LENGTH, length, generator, measured=True) for length in MEASURED_LENGTHS}


def answer(text: str) -> str:
    """What is to be written of a text: itself from behind."""
    return text[::-1]
