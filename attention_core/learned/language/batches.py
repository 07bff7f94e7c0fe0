"""The training batch of a language model: rows of texts, some words masked, and questions about other words."""

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

ROWS, ROW_LENGTH = 20, 48  # rows per batch and words per row: about a thousand words per step
START, MASK = "<start>", "<mask>"
HIDDEN = 0.15  # share of words to predict in a text with masked words (Devlin et al. 2019, section 3.1)
STILL_SEEN = 0.1  # share of the words to predict that are not masked
WEIGHED = 0.3  # share of hard texts, in which a reason fits one of two possible nouns
WHOLE = 0.5  # share of an encoder's texts without masked words, about which the questions are asked
ITSELF = 0.15  # share asked of the words without an answer, for which the right answer is the word itself
DISGUISED_NOUNS, DISGUISED_OTHERS = 0.1, 0.03  # shares of nouns and of other words replaced by their category
OTHER_CATEGORIES = ("<quality>", "<verb>")


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of texts for one training step.

    packed: the texts, with the answers to the questions that are asked. seen: the input words, some of them masked.
    foretold: which words an encoder has to predict; None for a decoder, which predicts each word from the words before.
    """

    packed: PackedTexts
    seen: Int[Tensor, "B T"]
    foretold: Bool[Tensor, "B T"] | None

    @property
    def count(self) -> int:
        """The number of texts."""
        return self.packed.count


@cache
def word_numbers(language: str) -> dict[str, int]:
    """Word -> its number, for the vocabulary of a language."""
    return {word: number for number, word in enumerate(vocabulary(language))}


def draw_texts(language: str, rng: RandomNumbers) -> Iterator[Text]:
    """Yield training texts without end; each begins with START, and some words are replaced by their categories."""
    while True:
        text = draw_weighed_text(language, rng) if rng.random() < WEIGHED else draw_scene(rng).say(language)
        yield begin_text(text._replace(words=tuple(disguise_words(text, rng, disguise_share))))


def draw_weighed_text(language: str, rng: RandomNumbers) -> Text:
    """A text with a reason that fits only one of two nouns which the pronoun might mean."""
    while True:
        text = draw_scene(rng, "because").say(language)
        if any(link.kind == "pronoun" and link.others for link in text.links):
            return text


def begin_text(text: Text) -> Text:
    """The text with START before it."""
    links = tuple(map(begin_link, text.links))
    return text._replace(words=(START, *text.words), kinds=("", *text.kinds), links=links)


def begin_link(link: Link) -> Link:
    """A link of the text with START before it."""
    others = tuple(other + 1 for other in link.others)
    return link._replace(at=link.at + 1, to=link.to + 1, others=others)


def disguise_share(category: str) -> float:
    """The probability that a word is replaced by its category."""
    return DISGUISED_OTHERS if category in OTHER_CATEGORIES else DISGUISED_NOUNS


def draw_batch(language: str, causal: bool, generator: Generator) -> Batch:
    """Sample the batch of one training step."""
    texts = draw_texts(language, DrawnNumbers.drawn_from(generator))
    packed = pack_texts(texts, word_numbers(language), ROWS, ROW_LENGTH)
    whole = packed.filled if causal else draw_whole_texts(packed, generator)
    packed = replace(packed, answers=ask_about(packed, whole, causal, generator))
    if causal:
        return Batch(packed, packed.words, None)
    return hide_words(packed, whole, language, generator)


def draw_whole_texts(packed: PackedTexts, generator: Generator) -> Bool[Tensor, "B T"]:
    """Which words belong to texts without masked words, a random share WHOLE of all texts."""
    most = packed.words.shape[1]
    is_whole = torch.rand(len(packed.words), most, generator=generator) < WHOLE  # (B, texts)
    return is_whole.gather(1, packed.texts.clamp(min=0)) & packed.filled  # (B, texts) -> (B, T)


def ask_about(
    packed: PackedTexts, whole: Bool[Tensor, "B T"], causal: bool, generator: Generator
) -> Int[Tensor, "Q B T"]:
    """The positions of the right answers, NOT_ASKED where no question is asked.

    Asked are all questions whose answer is another word, for a decoder an earlier word, and a share ITSELF of the rest.
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
    """Return the batch with some words masked, never START and never in a whole text. whole: as in draw_whole_texts."""
    numbers = word_numbers(language)
    can_be_hidden = packed.filled & ~whole & (packed.words != numbers[START])
    foretold = can_be_hidden & (torch.rand(packed.words.shape, generator=generator) < HIDDEN)
    is_masked = foretold & (torch.rand(packed.words.shape, generator=generator) >= STILL_SEEN)
    seen = packed.words.masked_fill(is_masked, numbers[MASK])
    return Batch(packed, seen, foretold)
