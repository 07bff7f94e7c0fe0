"""Texts of which it is known what decides: the value behind a marker, or the majority of votes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from attention_core.learned.symbols.alphabet import PAD, Alphabet
from attention_core.learned.symbols.split import on_one_side

MARKER = ">"
VALUES, FILLERS = tuple("01234567"), tuple("abcdefgh")
LOOKUP = Alphabet((MARKER, *VALUES, *FILLERS))
FOR, AGAINST, SILENT = "+", "-", "."
VOTE = Alphabet((FOR, AGAINST, SILENT))
SHORTEST, LONGEST = 8, 16
SHOWN = 3  # values in a text, all different; one of them is marked

Labelled = tuple[Int[Tensor, "B S"], Int[Tensor, " B"]]  # texts filled up with PAD, and the class of each


def marked_values(count: int, generator: Generator) -> Labelled:
    """Texts such as "b > 3 a 7 c h 1 f": letters, three different values, and a marker before one of them, its class.

    Each value has a place of its own, and a letter or the marker before it: nothing but the marker tells which."""
    length = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=generator)  # (B, 1)
    texts = torch.randint(len(FILLERS), (count, LONGEST), generator=generator) + 1 + len(VALUES)  # (B, S)
    pairs = torch.rand(count, LONGEST // 2, generator=generator)  # of a letter and what stands behind it
    pairs[torch.arange(LONGEST // 2) >= length // 2] = 2.0  # those beyond the text come last
    chosen = pairs.argsort(-1)[:, :SHOWN]  # (B, 3)
    values = torch.rand(count, len(VALUES), generator=generator).argsort(-1)[:, :SHOWN]  # (B, 3), all different
    texts = texts.scatter(1, 2 * chosen + 1, values + 1).scatter(1, 2 * chosen[:, :1], 0)
    return texts.masked_fill(torch.arange(LONGEST) >= length, PAD), values[:, 0]


def votes(count: int, generator: Generator) -> Labelled:
    """Texts such as "+ . - + . +": an odd number of votes, silence between them, and the side with more of them."""
    length = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=generator)
    silent = torch.rand(count, LONGEST, generator=generator) < 0.3
    cast = torch.randint(2, (count, LONGEST), generator=generator)  # 0: for, 1: against
    texts = torch.where(silent, 2, cast).masked_fill(torch.arange(LONGEST) >= length, PAD)
    texts[:, 0] = cast[:, 0].masked_fill(((texts[:, 1:] == 0) | (texts[:, 1:] == 1)).sum(-1) % 2 == 1, 2)
    ahead = (texts == 0).sum(-1) - (texts == 1).sum(-1)
    return texts, (ahead < 0).long()


@dataclass(frozen=True)
class Evidence:
    """A task: its symbols, what draws texts with their classes, and what the classes are called."""

    symbols: Alphabet
    draw: Callable[[int, Generator], Labelled]
    classes: tuple[str, ...]


TASKS = {"lookup": Evidence(LOOKUP, marked_values, VALUES), "vote": Evidence(VOTE, votes, (FOR, AGAINST))}
EACH = 500  # texts that are measured


def batch(task: str, count: int, generator: Generator) -> Labelled:
    """Texts to train, with their classes."""
    return on_one_side(lambda many: TASKS[task].draw(many, generator), count, measured=False)


@cache
def held_out(task: str) -> Labelled:
    """Texts that are never trained, with their classes."""
    generator = torch.Generator().manual_seed(1)
    return on_one_side(lambda many: TASKS[task].draw(many, generator), EACH, measured=True)


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
    ahead = symbols.count(FOR) - symbols.count(AGAINST)
    return None if ahead == 0 else FOR if ahead > 0 else AGAINST
