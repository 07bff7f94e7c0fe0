"""Samples sentence pairs for the training of a translator: one content, written in English and in Chinese."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from attention_core.learned.grammar import Scene, Text, draw_scene
from attention_core.learned.grammar.draw import DrawnNumbers, RandomNumbers
from attention_core.learned.grammar.function_words import DETERMINERS
from attention_core.learned.grammar.scene import Mention
from attention_core.learned.language.batches import (
    DISGUISED_NOUNS,
    OTHER_CATEGORIES,
    ROW_LENGTH,
    ROWS,
    START,
    begin_text,
    word_numbers,
)
from attention_core.learned.language.packing import PackedWords, deal_rows, disguise_words, pack_rows

SOURCE, TARGET = "en", "zh"


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation, each after START.

    aligned: (source position, target position) of words with the same meaning; words such as "the" and 了 are not
    aligned.
    """

    source: Text
    target: Text
    aligned: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Packed rows of sentences, and packed rows of their translations.

    Text n of a row in `target` is the translation of text n of the same row in `source`.
    """

    source: PackedWords
    target: PackedWords

    @property
    def count(self) -> int:
        """The number of pairs."""
        return self.source.count

    @property
    def wanted(self) -> Int[Tensor, "B T"]:
        """The right next word at each position of a translation; after the last word it is START, which marks the
        end.
        """
        words = self.target.words
        ends = torch.full_like(words[:, :1], word_numbers(TARGET)[START])  # (B, 1)
        return torch.cat((words[:, 1:], ends), 1)


# ---- one pair --------------------------------------------------------------------------------------------------------
def draw_plain_scene(rng: RandomNumbers, part: str) -> Scene:
    """Sample a Scene (the content of a text) whose English text has only one Chinese translation.

    For "the dog" the grammar usually writes 狗, but in one scene of seven 那 只 狗. Scenes with a second translation
    are omitted.
    """
    measured = DETERMINERS["the measured"]
    while True:
        scene = draw_scene(rng, part=part)
        mentions = find_mentions(scene.parts[SOURCE])
        if all(mention.determiner is not measured for mention in mentions):
            return scene


def find_mentions(part: object) -> Iterator[Mention]:
    """Yield all noun phrases (Mentions) in a part of a Scene, at any depth."""
    if isinstance(part, Mention):
        yield part
    inner = part.values() if isinstance(part, dict) else part
    if isinstance(part, dict | tuple):
        for each in inner:
            yield from find_mentions(each)


def draw_pair(rng: RandomNumbers, part: str) -> Pair:
    """Sample a sentence, its translation, and the alignment of their words.

    part: a part of the grammar, as in draw_scene.
    """
    scene = draw_plain_scene(rng, part)
    said = [(source, target) for source, target in scene.align() if target >= 0]  # -1: Chinese has no such word
    aligned = tuple((source + 1, target + 1) for source, target in said)
    return Pair(begin_text(scene.say(SOURCE)), begin_text(scene.say(TARGET)), aligned)


# ---- training batches ------------------------------------------------------------------------------------------------
def draw_pairs(rng: RandomNumbers) -> Iterator[tuple[Text, Text]]:
    """Yield training pairs (sentence, translation) without end; in some, category tokens replace nouns."""
    while True:
        scene = draw_plain_scene(rng, "train")
        source, target = disguise_pair(scene, rng)
        yield begin_text(source), begin_text(target)


def disguise_pair(scene: Scene, rng: RandomNumbers) -> tuple[Text, Text]:
    """Write a Scene, the content of a text, in both languages; the same nouns are replaced by their categories in
    both.
    """
    source, target = scene.say(SOURCE), scene.say(TARGET)
    words = disguise_words(source, rng, disguise_share)
    if words == list(source.words):
        return source, target
    translated = list(target.words)
    for here, there in scene.align():
        if words[here] != source.words[here]:
            translated[there] = target.kinds[there]
    return source._replace(words=tuple(words)), target._replace(words=tuple(translated))


def disguise_share(category: str) -> float:
    """Return the probability that a word of this category is replaced by its category's token.

    The probability is 0 for adjectives and verbs, because the Chinese words beside them depend on the word.
    """
    return 0 if category in OTHER_CATEGORIES else DISGUISED_NOUNS


def draw_pair_batch(generator: Generator) -> PairBatch:
    """Sample the PairBatch of one training step."""
    numbers = DrawnNumbers.drawn_from(generator)
    rows = deal_rows(draw_pairs(numbers), lambda pair: tuple(len(text.words) for text in pair), ROWS, ROW_LENGTH)
    return pack_pairs(rows, ROWS, ROW_LENGTH)


def pack_pairs(rows: list[list[tuple[Text, Text]]], count: int, length: int) -> PairBatch:
    """Pack the pairs of each row into a batch; empty positions hold START.

    rows: the pairs of each row. count: the number of rows. length: the length of a row.
    """
    packed = []
    for side, language in enumerate((SOURCE, TARGET)):
        numbers = word_numbers(language)
        texts = [[pair[side] for pair in row] for row in rows]
        packed.append(pack_rows(texts, numbers, count, length, filler=numbers[START]))
    return PairBatch(*packed)
