"""Texts of which it is known what decides: the value behind a marker, or the majority of votes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from attention_core.learned.symbols.alphabet import PAD, Alphabet
from attention_core.learned.symbols.split import draw_one_side

MARKER = ">"
LOOKUP_VALUES, LOOKUP_FILLERS = tuple("01234567"), tuple("abcdefgh")
LOOKUP_ALPHABET = Alphabet((MARKER, *LOOKUP_VALUES, *LOOKUP_FILLERS))
VOTE_FOR, VOTE_AGAINST, VOTE_SILENT = "+", "-", "."
VOTE_ALPHABET = Alphabet((VOTE_FOR, VOTE_AGAINST, VOTE_SILENT))
SHORTEST_EVIDENCE, LONGEST_EVIDENCE = 8, 16
VALUES_PER_TEXT = 3  # values in a text, all different; one of them is marked

LabelledTexts = tuple[Int[Tensor, "B S"], Int[Tensor, " B"]]  # texts filled up with PAD, and the class of each


def draw_marked_values(count: int, generator: Generator) -> LabelledTexts:
    """Texts such as "b > 3 a 7 c h 1 f": letters, three different values, and a marker before one of them, its class.

    Each value has a place of its own, and a letter or the marker before it: nothing but the marker tells which."""
    length = torch.randint(SHORTEST_EVIDENCE, LONGEST_EVIDENCE + 1, (count, 1), generator=generator)  # (B, 1)
    texts = (
        torch.randint(len(LOOKUP_FILLERS), (count, LONGEST_EVIDENCE), generator=generator) + 1 + len(LOOKUP_VALUES)
    )  # (B, S)
    pairs = torch.rand(count, LONGEST_EVIDENCE // 2, generator=generator)  # of a letter and what stands behind it
    pairs[torch.arange(LONGEST_EVIDENCE // 2) >= length // 2] = 2.0  # those beyond the text come last
    chosen = pairs.argsort(-1)[:, :VALUES_PER_TEXT]  # (B, 3)
    values = torch.rand(count, len(LOOKUP_VALUES), generator=generator).argsort(-1)[
        :, :VALUES_PER_TEXT
    ]  # (B, 3), all different
    texts = texts.scatter(1, 2 * chosen + 1, values + 1).scatter(1, 2 * chosen[:, :1], 0)
    return texts.masked_fill(torch.arange(LONGEST_EVIDENCE) >= length, PAD), values[:, 0]


def draw_votes(count: int, generator: Generator) -> LabelledTexts:
    """Texts such as "+ . - + . +": an odd number of votes, silence between them, and the side with more of them."""
    length = torch.randint(SHORTEST_EVIDENCE, LONGEST_EVIDENCE + 1, (count, 1), generator=generator)
    silent = torch.rand(count, LONGEST_EVIDENCE, generator=generator) < 0.3
    cast = torch.randint(2, (count, LONGEST_EVIDENCE), generator=generator)  # 0: for, 1: against
    texts = torch.where(silent, 2, cast).masked_fill(torch.arange(LONGEST_EVIDENCE) >= length, PAD)
    texts[:, 0] = cast[:, 0].masked_fill(((texts[:, 1:] == 0) | (texts[:, 1:] == 1)).sum(-1) % 2 == 1, 2)
    ahead = (texts == 0).sum(-1) - (texts == 1).sum(-1)
    return texts, (ahead < 0).long()


@dataclass(frozen=True)
class EvidenceTask:
    """A task: its symbols, what draws texts with their classes, and what the classes are called."""

    symbols: Alphabet
    draw: Callable[[int, Generator], LabelledTexts]
    classes: tuple[str, ...]


TASKS = {
    "lookup": EvidenceTask(LOOKUP_ALPHABET, draw_marked_values, LOOKUP_VALUES),
    "vote": EvidenceTask(VOTE_ALPHABET, draw_votes, (VOTE_FOR, VOTE_AGAINST)),
}
MEASURED_TEXT_COUNT = 500  # texts that are measured


def batch(task: str, count: int, generator: Generator) -> LabelledTexts:
    """Texts to train, with their classes."""
    return draw_one_side(lambda many: TASKS[task].draw(many, generator), count, measured=False)


@cache
def held_out(task: str) -> LabelledTexts:
    """Texts that are never trained, with their classes."""
    generator = torch.Generator().manual_seed(1)
    return draw_one_side(lambda many: TASKS[task].draw(many, generator), MEASURED_TEXT_COUNT, measured=True)


# ---- what is right ---------------------------------------------------------------------------------------------------
def answer(task: str, text: str) -> str | None:
    """The class of a text by what decides; None for one that is of another kind than those that are trained.

    >>> answer("lookup", "b7c>3ah1f"), answer("lookup", "b7c"), answer("vote", "+.-+"), answer("vote", "+-")
    ('3', None, '+', None)
    """
    symbols = "".join(text.split())
    if task == "lookup":
        marked = re.findall(f"{MARKER}([0-7])", symbols)
        return marked[0] if len(marked) == 1 == symbols.count(MARKER) else None
    ahead = symbols.count(VOTE_FOR) - symbols.count(VOTE_AGAINST)
    return None if ahead == 0 else VOTE_FOR if ahead > 0 else VOTE_AGAINST
