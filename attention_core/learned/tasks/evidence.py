"""Defines classification tasks in which the evidence is known: the value after a marker decides, or the majority of
votes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from attention_core.learned.symbols import PAD, Alphabet, draw_one_side

MARKER = ">"
LOOKUP_VALUES, LOOKUP_FILLERS = tuple("01234567"), tuple("abcdefgh")
LOOKUP_ALPHABET = Alphabet((MARKER, *LOOKUP_VALUES, *LOOKUP_FILLERS))
MARKER_NUMBER, FIRST_VALUE, FIRST_FILLER = 0, 1, 1 + len(LOOKUP_VALUES)  # index of the first symbol of each sort
VOTE_FOR, VOTE_AGAINST, VOTE_SILENT = "+", "-", "."
VOTE_ALPHABET = Alphabet((VOTE_FOR, VOTE_AGAINST, VOTE_SILENT))
FOR_NUMBER, AGAINST_NUMBER, SILENT_NUMBER = range(3)  # indices in VOTE_ALPHABET: a vote for, a vote against, no vote
SILENT_SHARE = 0.3  # share of positions without a vote
SHORTEST_EVIDENCE, LONGEST_EVIDENCE = 8, 16
VALUES_PER_TEXT = 3  # number of different values in a text, one of them after the marker

LabelledTexts = tuple[Int[Tensor, "B S"], Int[Tensor, " B"]]  # (texts padded with PAD, the class of each text)


# ---- a marked value --------------------------------------------------------------------------------------------------
def draw_marked_values(count: int, generator: Generator) -> LabelledTexts:
    """Sample texts such as "> 3 a 7 c h b 1 f", whose class is the value after the marker, here 3.

    The other symbols are letters and two different values. Each value is at an odd position, after a letter or the
    marker, so that only the marker selects one.
    """
    lengths = draw_lengths(count, generator)  # (B, 1)
    fillers = torch.randint(
        len(LOOKUP_FILLERS),
        (count, LONGEST_EVIDENCE),
        generator=generator,
    )
    texts = fillers + FIRST_FILLER  # (B, S)
    value_places = draw_value_places(lengths, generator)  # (B, 3)
    values = draw_values(count, generator)  # (B, 3)
    texts = texts.scatter(1, value_places, values + FIRST_VALUE)
    marked_place = value_places[:, :1]  # (B, 1): the position of the first sampled value
    texts = texts.scatter(1, marked_place - 1, MARKER_NUMBER)
    texts = pad_beyond(texts, lengths)
    classes = values[:, 0]
    return texts, classes


def draw_lengths(count: int, generator: Generator) -> Int[Tensor, "B 1"]:
    """Sample a length for each text, from SHORTEST_EVIDENCE to LONGEST_EVIDENCE.

    count: the number of texts.
    """
    return torch.randint(
        SHORTEST_EVIDENCE,
        LONGEST_EVIDENCE + 1,
        (count, 1),
        generator=generator,
    )


def draw_value_places(lengths: Int[Tensor, "B 1"], generator: Generator) -> Int[Tensor, "B 3"]:
    """Sample the positions of the values: different odd positions inside each text."""
    count = len(lengths)
    # Positions form pairs of an even and an odd one; only the odd one may have a value.
    most_pairs = LONGEST_EVIDENCE // 2
    keys = torch.rand(count, most_pairs, generator=generator)  # (B, pairs): sorted, these give a random order
    pair_counts = lengths // 2  # (B, 1)
    is_beyond = torch.arange(most_pairs) >= pair_counts  # (B, pairs)
    keys[is_beyond] = 2.0  # pairs beyond the end of the text come last, because random numbers are below 1
    order = keys.argsort(-1)
    pairs = order[:, :VALUES_PER_TEXT]
    return 2 * pairs + 1


def draw_values(count: int, generator: Generator) -> Int[Tensor, "B 3"]:
    """Sample different values for each text, as indices into LOOKUP_VALUES."""
    keys = torch.rand(count, len(LOOKUP_VALUES), generator=generator)
    order = keys.argsort(-1)  # (B, 8): a random order of the values per row
    return order[:, :VALUES_PER_TEXT]


def pad_beyond(texts: Int[Tensor, "B S"], lengths: Int[Tensor, "B 1"]) -> Int[Tensor, "B S"]:
    """Replace the symbols after the end of each text by PAD."""
    is_beyond = torch.arange(LONGEST_EVIDENCE) >= lengths  # (B, S)
    return texts.masked_fill(is_beyond, PAD)


# ---- votes -----------------------------------------------------------------------------------------------------------
def draw_votes(count: int, generator: Generator) -> LabelledTexts:
    """Sample texts such as "+ . - + . .": an odd number of votes, with silence between them; the class is the majority.

    The first position has a vote if the number of the other votes is even, so that the total is odd.
    """
    shape = (count, LONGEST_EVIDENCE)
    lengths = draw_lengths(count, generator)  # (B, 1)
    is_silent = torch.rand(shape, generator=generator) < SILENT_SHARE
    votes = torch.randint(2, shape, generator=generator)  # (B, S): each 0 or 1, a vote for or against
    texts = torch.where(is_silent, SILENT_NUMBER, votes)
    texts = pad_beyond(texts, lengths)
    others_for, others_against = count_votes(texts[:, 1:])
    is_odd = (others_for + others_against) % 2 == 1  # (B,)
    first_votes = votes[:, 0]
    texts[:, 0] = first_votes.masked_fill(is_odd, SILENT_NUMBER)
    votes_for, votes_against = count_votes(texts)
    is_against = votes_against > votes_for
    return texts, is_against.long()


def count_votes(texts: Int[Tensor, "B S"]) -> tuple[Int[Tensor, " B"], Int[Tensor, " B"]]:
    """Return the number of votes for and the number of votes against, for each text."""
    is_for = texts == FOR_NUMBER
    is_against = texts == AGAINST_NUMBER
    return is_for.sum(-1), is_against.sum(-1)


# ---- the tasks -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class EvidenceTask:
    """A classification task: its alphabet, a function that samples labelled texts, and the symbols of the classes."""

    symbols: Alphabet
    draw: Callable[[int, Generator], LabelledTexts]
    classes: tuple[str, ...]

    def draw_side(self, count: int, generator: Generator, measured: bool) -> LabelledTexts:
        """Sample texts with their classes, either training texts or held-out texts.

        measured: True for held-out texts, False for training texts.
        """
        draw = partial(self.draw, generator=generator)
        return draw_one_side(draw, count, measured)


TASKS = {
    "lookup": EvidenceTask(LOOKUP_ALPHABET, draw_marked_values, LOOKUP_VALUES),
    "vote": EvidenceTask(VOTE_ALPHABET, draw_votes, (VOTE_FOR, VOTE_AGAINST)),
}
MEASURED_TEXT_COUNT = 500  # number of held-out texts


def batch(task: str, count: int, generator: Generator) -> LabelledTexts:
    """Sample `count` labelled texts of a task for training."""
    return TASKS[task].draw_side(count, generator, measured=False)


@cache
def held_out(task: str) -> LabelledTexts:
    """Sample the labelled held-out texts."""
    generator = torch.Generator().manual_seed(1)
    return TASKS[task].draw_side(MEASURED_TEXT_COUNT, generator, measured=True)


# ---- the right class -------------------------------------------------------------------------------------------------
def answer(task: str, text: str) -> str | None:
    """Return the right class of a text; None for a text without a class.

    >>> answer("lookup", "b7c>3ah1f"), answer("lookup", "b7c"), answer("vote", "+.-+"), answer("vote", "+-")
    ('3', None, '+', None)
    """
    symbols = "".join(text.split())
    if task == "lookup":
        return find_marked_value(symbols)
    return count_majority(symbols)


def find_marked_value(symbols: str) -> str | None:
    """Return the value after the marker.

    Returns None if the text does not have exactly one marker, or has no value after it.
    """
    if symbols.count(MARKER) != 1:
        return None
    marked = re.search(f"{MARKER}([0-7])", symbols)
    if marked is None:
        return None
    return marked[1]


def count_majority(symbols: str) -> str | None:
    """Return the more frequent vote; None if both are equally frequent."""
    votes_for = symbols.count(VOTE_FOR)
    votes_against = symbols.count(VOTE_AGAINST)
    if votes_for > votes_against:
        return VOTE_FOR
    if votes_against > votes_for:
        return VOTE_AGAINST
    return None
