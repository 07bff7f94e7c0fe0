"""Samples the training batches of the language models: texts packed into rows, the words to mask, the questions and
answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import torch
from jaxtyping import Bool, Int
from torch import Generator, Tensor

from attention_core.learned.grammar import Link, Text, draw_scene, vocabulary
from attention_core.learned.grammar.draw import DrawnNumbers, RandomNumbers
from attention_core.learned.language.packing import PackedTexts, disguise_words, pack_texts
from attention_core.learned.language.questions import NOT_ASKED

ROWS, ROW_LENGTH = 20, 48  # rows per batch and words per row, about a thousand words per step
START, MASK = "<start>", "<mask>"
HIDDEN = 0.15  # share of the words that an encoder must predict (Devlin et al. 2019, section 3.1)
STILL_SEEN = 0.1  # share of those words that stay visible, instead of being masked
WEIGHED = 0.3  # share of training texts with a pronoun that fits two nouns, so that only a reason decides
WHOLE = 0.5  # share of an encoder's training texts without masked words; questions are asked only about these
ITSELF = 0.15  # share of the words that are their own answer for which the question is asked
DISGUISED_NOUNS, DISGUISED_OTHERS = 0.1, 0.03  # share of the nouns, and of other words, that a category token replaces
OTHER_CATEGORIES = ("<quality>", "<verb>")


@dataclass(frozen=True, eq=False)
class Batch:
    """The batch of texts for one training step.

    packed: the texts in rows, with the answers to the questions that are asked. seen: the input words, some of them
    masked. foretold: a boolean tensor, True at the words that an encoder has to predict; None for a decoder, which
    predicts each word from the words before it.
    """

    packed: PackedTexts
    seen: Int[Tensor, "B T"]
    foretold: Bool[Tensor, "B T"] | None

    @property
    def count(self) -> int:
        """The number of texts in the batch."""
        return self.packed.count


@cache
def word_numbers(language: str) -> dict[str, int]:
    """Return {word: index in the vocabulary} of a language."""
    return {word: number for number, word in enumerate(vocabulary(language))}


def draw_texts(language: str, rng: RandomNumbers) -> Iterator[Text]:
    """Yield an endless sequence of training texts; each begins with START, and categories replace some of its words."""
    while True:
        text = draw_weighed_text(language, rng) if rng.random() < WEIGHED else draw_scene(rng).say(language)
        yield begin_text(text._replace(words=tuple(disguise_words(text, rng, disguise_share))))


def draw_weighed_text(language: str, rng: RandomNumbers) -> Text:
    """Sample a text in which two nouns fit the pronoun, and a reason tells which of them is meant."""
    while True:
        text = draw_scene(rng, "because").say(language)
        if any(link.kind == "pronoun" and link.others for link in text.links):
            return text


def begin_text(text: Text) -> Text:
    """Return a text with START before its first word; the positions in its links are increased by 1."""
    links = tuple(map(begin_link, text.links))
    return text._replace(words=(START, *text.words), kinds=("", *text.kinds), links=links)


def begin_link(link: Link) -> Link:
    """Return a link between two words with both positions increased by 1, because START was put before the text."""
    others = tuple(other + 1 for other in link.others)
    return link._replace(at=link.at + 1, to=link.to + 1, others=others)


def disguise_share(category: str) -> float:
    """Return the probability that a word of this category is replaced by its category token, such as <verb>."""
    return DISGUISED_OTHERS if category in OTHER_CATEGORIES else DISGUISED_NOUNS


def draw_batch(language: str, causal: bool, generator: Generator) -> Batch:
    """Sample the texts of one training step; words are masked unless the model is causal (a decoder)."""
    texts = draw_texts(language, DrawnNumbers.drawn_from(generator))
    packed = pack_texts(texts, word_numbers(language), ROWS, ROW_LENGTH)
    whole = packed.filled if causal else draw_whole_texts(packed, generator)
    packed = replace(packed, answers=ask_about(packed, whole, causal, generator))
    if causal:
        return Batch(packed, packed.words, None)
    return hide_words(packed, whole, language, generator)


def draw_whole_texts(packed: PackedTexts, generator: Generator) -> Bool[Tensor, "B T"]:
    """Return a boolean mask, True at the words of texts that stay without masked words; each text with the probability
    WHOLE.
    """
    most = packed.words.shape[1]
    is_whole = torch.rand(len(packed.words), most, generator=generator) < WHOLE  # (B, the most texts in a row)
    return is_whole.gather(1, packed.texts.clamp(min=0)) & packed.filled  # (B, texts) -> (B, T)


def ask_about(
    packed: PackedTexts, whole: Bool[Tensor, "B T"], causal: bool, generator: Generator
) -> Int[Tensor, "Q B T"]:
    """Return, for each word and question, the position of the right answer; NOT_ASKED if the training does not ask that
    question.

    All questions whose answer is another word (for a decoder an earlier word) are asked, and a share ITSELF of the
    other questions. whole: True at the words of texts without masked words.
    """
    answers = packed.answers
    places = torch.arange(answers.shape[-1]).expand_as(answers)  # (Q, B, T)
    is_itself = answers == places
    is_left_out = is_itself & (torch.rand(answers.shape, generator=generator) >= ITSELF)
    if causal:
        is_left_out |= answers > places  # a decoder cannot attend to later words
    is_asked = whole & ~is_left_out & (answers != NOT_ASKED)
    return answers.where(is_asked, torch.tensor(NOT_ASKED))


def hide_words(packed: PackedTexts, whole: Bool[Tensor, "B T"], language: str, generator: Generator) -> Batch:
    """Mask a share of the words, except START and the words of texts that stay without masked words.

    whole: True at the words of texts without masked words.
    """
    numbers = word_numbers(language)
    can_be_hidden = packed.filled & ~whole & (packed.words != numbers[START])
    foretold = can_be_hidden & (torch.rand(packed.words.shape, generator=generator) < HIDDEN)
    is_masked = foretold & (torch.rand(packed.words.shape, generator=generator) >= STILL_SEEN)
    seen = packed.words.masked_fill(is_masked, numbers[MASK])
    return Batch(packed, seen, foretold)
