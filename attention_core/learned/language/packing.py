"""Packs texts of different lengths into training rows of one length, so that few positions stay empty."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.learned.grammar import Text
from attention_core.learned.grammar.draw import RandomNumbers
from attention_core.learned.language.questions import NOT_ASKED, QUESTIONS, Answers

NO_TEXT = -1  # what PackedWords.texts has at an empty position
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class PackedWords:
    """Texts packed into rows of equal length.

    words: the token id of each word. texts: for each word, the index in its row of the text to which it belongs;
    NO_TEXT at an empty position.
    """

    words: Int[Tensor, "B T"]
    texts: Int[Tensor, "B T"]

    @property
    def allowed(self) -> Bool[Tensor, "B 1 T T"]:
        """A boolean mask of which word may attend to which: to all words of its own text.

        An empty position attends to the empty positions of its row.
        """
        same = self.texts[:, :, None] == self.texts[:, None, :]  # (B, T, T)
        return same[:, None]

    def allowed_to(self, others: "PackedWords") -> Bool[Tensor, "B 1 T S"]:
        """Return a boolean mask of which word may attend to which word of `others`: to the text with the same index in
        the row.

        An empty position attends to all words, so that its softmax is defined.
        """
        same = self.texts[:, :, None] == others.texts[:, None, :]  # (B, T, S)
        return (same | ~self.filled[:, :, None])[:, None]

    @property
    def filled(self) -> Bool[Tensor, "B T"]:
        """A boolean tensor, True at positions that hold a word."""
        return self.texts != NO_TEXT

    @property
    def places(self) -> Int[Tensor, "B T"]:
        """The position of each word in its own text, counted from 0."""
        firsts = self.allowed[:, 0].int().argmax(-1)  # index at which each word's text begins
        return torch.arange(self.words.shape[1]) - firsts

    @property
    def count(self) -> int:
        """The number of texts in all rows."""
        return int((self.texts.amax(-1) + 1).sum())


@dataclass(frozen=True, eq=False)
class PackedTexts(PackedWords):
    """Texts packed into rows, and for each word and question the position of the answer (see Answers)."""

    answers: Answers


def pack_texts(
    texts: Iterable[Text], numbers: Mapping[str, int], rows: int, length: int, filler: int = 0
) -> PackedTexts:
    """Pack texts into rows in order, and stop when a text does not fit into the last row.

    texts: an iterable, which may be endless. numbers: word -> token id. filler: the token id at empty positions. A text
    longer than a row is skipped.

    >>> from attention_core.learned.grammar import Text
    >>> from itertools import repeat
    >>> text = Text(("<start>", "anna", "smiled"), (), ("", "<name-f>", "<verb>"), "plain", "")
    >>> packed = pack_texts(repeat(text), {"<start>": 1, "anna": 2, "smiled": 3}, rows=1, length=7)
    >>> packed.words.tolist(), packed.texts.tolist()
    ([[1, 2, 3, 1, 2, 3, 0]], [[0, 0, 0, 1, 1, 1, -1]])
    """
    dealt = deal_rows(texts, lambda text: (len(text.words),), rows, length)
    packed = pack_rows(dealt, numbers, rows, length, filler)
    answers = [list(answers_of_row(row)) for row in dealt]
    no_answers = (NOT_ASKED,) * len(QUESTIONS)
    answers = fill_rows(answers, rows, length, no_answers).permute(2, 0, 1)  # (B, T, Q) -> (Q, B, T)
    return PackedTexts(packed.words, packed.texts, answers)


def deal_rows(
    items: Iterable[Item], sizes: Callable[[Item], tuple[int, ...]], rows: int, length: int
) -> list[list[Item]]:
    """Distribute items to rows in order, and stop when an item does not fit into the last row.

    sizes: a function that returns the lengths of an item, such as of a source text and its translation; in each row,
    each of them sums to at most `length`. An item longer than a row is skipped.
    """
    dealt: list[list[Item]] = [[]]
    for item in items:
        if max(sizes(item)) > length:
            continue
        taken = zip(*map(sizes, (*dealt[-1], item)), strict=True)
        if any(sum(places) > length for places in taken):
            if len(dealt) == rows:
                break
            dealt.append([])
        dealt[-1].append(item)
    return dealt


def pack_rows(
    dealt: Sequence[Sequence[Text]], numbers: Mapping[str, int], rows: int, length: int, filler: int = 0
) -> PackedWords:
    """Return the texts of each row, concatenated. numbers: word -> token id. filler: the token id at empty
    positions."""
    words = [[numbers[word] for text in row for word in text.words] for row in dealt]
    owners = [[number for number, text in enumerate(row) for _ in text.words] for row in dealt]
    return PackedWords(fill_rows(words, rows, length, filler), fill_rows(owners, rows, length, NO_TEXT))


def answers_of_row(texts: Iterable[Text]) -> Iterator[tuple[int, ...]]:
    """Yield, for each word of the texts in a row, the positions of its answers in that row, one per question."""
    start = 0
    for text in texts:
        yield from answer_positions(text, start)
        start += len(text.words)


def fill_rows(parts: list[list], rows: int, length: int, filler: object) -> Tensor:
    """Return lists as a tensor with `rows` rows of the given length, padded with the filler."""
    filled = [part + [filler] * (length - len(part)) for part in parts]
    filled += [[filler] * length] * (rows - len(parts))
    return torch.tensor(filled)


def answer_positions(text: Text, start: int) -> list[tuple[int, ...]]:
    """Return, for each word, the positions of its answers in the row, one per question.

    A word without an answer has its own position. start: the position of the text in the row.
    """
    answers = [[start + place] * len(QUESTIONS) for place in range(len(text.words))]
    for link in text.links:
        if link.kind in QUESTIONS:
            answers[link.at][QUESTIONS.index(link.kind)] = start + link.to
    return [tuple(each) for each in answers]


def disguise_words(text: Text, rng: RandomNumbers, share: Callable[[str], float]) -> list[str]:
    """Return the words of a text with some of them replaced by their categories, each at all its occurrences.

    share: a function that returns the probability that words of a category are replaced.
    """
    disguised: dict[str, bool] = {}
    words = []
    for word, category in zip(text.words, text.kinds, strict=True):
        if category and word not in disguised:
            disguised[word] = rng.random() < share(category)
        words.append(category if category and disguised[word] else word)
    return words
