"""The order in which a decoder can fill a gap: what stands before it, what stands behind it, then the middle."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Generator, Tensor

from attention_core.learned.grammar import Text, vocabulary
from attention_core.learned.grammar.draw import RandomNumbers
from attention_core.learned.language.batches import ROW_LENGTH, ROWS, Batch, draw_texts, word_numbers
from attention_core.learned.language.drawn_numbers import DrawnNumbers
from attention_core.learned.language.losses import foretelling_loss
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.packing import pack_texts

SUFFIX, MIDDLE, END = "<suffix>", "<middle>", "<end>"  # before what stands behind the gap; behind it; behind the middle
SIGNS = (SUFFIX, MIDDLE, END)
MOVED = 0.5  # of the texts that are learned from; the others stand as they are written


def put_middle_last(words: tuple[str, ...], first: int, stop: int) -> tuple[str, ...]:
    """Give a text in the order prefix, suffix, middle: a decoder that writes the middle has read both sides.

    words: START and the text. first, stop: the middle is words[first:stop].

    Source: Bavarian et al. 2022 (arXiv 2207.14255), section 3, PSM.

    >>> put_middle_last(("<start>", "the", "dog", "barked", "."), 2, 3)
    ('<start>', 'the', '<suffix>', 'barked', '.', '<middle>', 'dog', '<end>')
    """
    return (*words[:first], SUFFIX, *words[stop:], MIDDLE, *words[first:stop], END)


def middle_numbers(language: str) -> dict[str, int]:
    """The number of each word of a language, and of the signs behind them."""
    known = vocabulary(language)
    return word_numbers(language) | {sign: len(known) + n for n, sign in enumerate(SIGNS)}


def draw_moved_texts(language: str, rng: RandomNumbers) -> Iterator[Text]:
    """Texts to learn from, without end; of MOVED of them some words in a row, one at least, stand last."""
    for text in draw_texts(language, rng):
        words = text.words
        if rng.random() < MOVED:
            first, last = sorted((draw_place(words, rng), draw_place(words, rng)))
            words = put_middle_last(words, first, last + 1)
        yield text._replace(words=words, kinds=("",) * len(words), links=())


def draw_place(words: tuple[str, ...], rng: RandomNumbers) -> int:
    """The place of a word behind START, each as likely."""
    return 1 + int(rng.random() * (len(words) - 1))


@dataclass(frozen=True)
class MiddleRecipe:
    """How a decoder comes about that can fill a gap; see TrainingRecipe. It foretells words and nothing else."""

    language: str
    steps: int = 2000
    rate: float = 3e-3
    seeds: tuple[int, ...] = (1,)

    @property
    def name(self) -> str:
        """What its unfinished training is called."""
        return f"{self.language}_middle_decoder"

    def make(self, generator: Generator) -> LanguageModel:
        """Draw the model before training."""
        return LanguageModel(ModelShape(len(middle_numbers(self.language)), causal=True, answers="nowhere"), generator)

    def draw(self, generator: Generator) -> Batch:
        """Draw what it learns from at one step."""
        texts = draw_moved_texts(self.language, DrawnNumbers.drawn_from(generator))
        packed = pack_texts(texts, middle_numbers(self.language), ROWS, ROW_LENGTH)
        return Batch(packed, packed.words, None)

    def loss(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Compute the loss of a batch: each word is foretold by those before it, the suffix, too."""
        return foretelling_loss(model, model.run_layers(batch.seen, batch.packed.allowed), batch)
