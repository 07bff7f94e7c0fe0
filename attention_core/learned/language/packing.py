"""Texts side by side in rows of one length, as a network is trained on them: hardly a place is empty."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.learned.grammar import Text
from attention_core.learned.grammar.draw import RandomNumbers
from attention_core.learned.language.questions import NOT_ASKED, QUESTIONS, Answers

NO_TEXT = -1  # the text of a place that is empty


@dataclass(frozen=True, eq=False)
class PackedTexts:
    """Rows of texts.

    words: the number of each word. texts: which text of its row it belongs to, counted from 0. answers: see Answers.
    """

    words: Int[Tensor, "B T"]
    texts: Int[Tensor, "B T"]
    answers: Answers

    @property
    def allowed(self) -> Bool[Tensor, "B 1 T T"]:
        """Which word may attend to which: those of its text. An empty place attends to the others."""
        same = self.texts[:, :, None] == self.texts[:, None, :]  # (B, T, T)
        return same[:, None]

    @property
    def filled(self) -> Bool[Tensor, "B T"]:
        """Where a word stands."""
        return self.texts != NO_TEXT


def pack_texts(
    texts: Iterable[Text], numbers: Mapping[str, int], rows: int, length: int, filler: int = 0
) -> PackedTexts:
    """Lay texts into rows, one behind the other, until no further one fits into the last.

    texts: as many as are asked for. numbers: of every word. A text longer than a row is left out.

    >>> from attention_core.learned.grammar import Text
    >>> from itertools import repeat
    >>> text = Text(("<start>", "anna", "smiled"), (), ("", "<name-f>", "<verb>"), "plain", "")
    >>> packed = pack_texts(repeat(text), {"<start>": 1, "anna": 2, "smiled": 3}, rows=1, length=7)
    >>> packed.words.tolist(), packed.texts.tolist()
    ([[1, 2, 3, 1, 2, 3, 0]], [[0, 0, 0, 1, 1, 1, -1]])
    """
    words: list[list[int]] = [[]]
    owners: list[list[int]] = [[]]
    answers: list[list[tuple[int, ...]]] = [[]]
    for text in texts:
        if len(text.words) > length:
            continue
        if len(words[-1]) + len(text.words) > length:
            if len(words) == rows:
                break
            words.append([])
            owners.append([])
            answers.append([])
        start = len(words[-1])
        words[-1] += [numbers[word] for word in text.words]
        number = owners[-1][-1] + 1 if start else 0
        owners[-1] += [number] * len(text.words)
        answers[-1] += answer_positions(text, start)
    no_answers = (NOT_ASKED,) * len(QUESTIONS)
    return PackedTexts(
        fill_rows(words, rows, length, filler),
        fill_rows(owners, rows, length, NO_TEXT),
        fill_rows(answers, rows, length, no_answers).permute(2, 0, 1),  # (B, T, Q) -> (Q, B, T)
    )


def fill_rows(parts: list[list], rows: int, length: int, filler: object) -> Tensor:
    """Rows of one length, filled up."""
    filled = [part + [filler] * (length - len(part)) for part in parts]
    filled += [[filler] * length] * (rows - len(parts))
    return torch.tensor(filled)


def answer_positions(text: Text, start: int) -> list[tuple[int, ...]]:
    """Where the answers of a text stand in its row, by word; each word that is asked nothing answers with itself."""
    answers = [[start + place] * len(QUESTIONS) for place in range(len(text.words))]
    for link in text.links:
        if link.kind in QUESTIONS:
            answers[link.at][QUESTIONS.index(link.kind)] = start + link.to
    return [tuple(each) for each in answers]


def disguise_words(text: Text, rng: RandomNumbers, share: Callable[[str], float]) -> list[str]:
    """The words of a text, some of them replaced by their categories: one word always by the same.

    share: the probability of a category.
    """
    disguised: dict[str, bool] = {}
    words = []
    for word, category in zip(text.words, text.kinds, strict=True):
        if category and word not in disguised:
            disguised[word] = rng.random() < share(category)
        words.append(category if category and disguised[word] else word)
    return words
