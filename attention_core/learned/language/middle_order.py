"""The order in which a decoder can fill a gap: the words before it, the words after it, then the middle."""

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

SUFFIX, MIDDLE, END = "<suffix>", "<middle>", "<end>"  # signs before the suffix, before and after the middle
SIGNS = (SUFFIX, MIDDLE, END)
MOVED = 0.5  # share of the training texts in which words are moved


def put_middle_last(words: tuple[str, ...], first: int, stop: int) -> tuple[str, ...]:
    """Return a text in the order prefix, suffix, middle: a decoder that generates the middle has read both sides.

    words: START and the text. first, stop: the middle is words[first:stop].

    Source: Bavarian et al. 2022 (arXiv 2207.14255), section 3, PSM.

    >>> put_middle_last(("<start>", "the", "dog", "barked", "."), 2, 3)
    ('<start>', 'the', '<suffix>', 'barked', '.', '<middle>', 'dog', '<end>')
    """
    return (*words[:first], SUFFIX, *words[stop:], MIDDLE, *words[first:stop], END)


def middle_numbers(language: str) -> dict[str, int]:
    """Token -> its number, for the words of a language and then the signs."""
    known = vocabulary(language)
    return word_numbers(language) | {sign: len(known) + n for n, sign in enumerate(SIGNS)}


def draw_moved_texts(language: str, rng: RandomNumbers) -> Iterator[Text]:
    """Yield training texts without end; in a share MOVED of them one or more adjacent words are moved to the end."""
    for text in draw_texts(language, rng):
        words = text.words
        if rng.random() < MOVED:
            first, last = sorted((draw_place(words, rng), draw_place(words, rng)))
            words = put_middle_last(words, first, last + 1)
        yield text._replace(words=words, kinds=("",) * len(words), links=())


def draw_place(words: tuple[str, ...], rng: RandomNumbers) -> int:
    """The position of a random word after START."""
    return 1 + int(rng.random() * (len(words) - 1))


@dataclass(frozen=True)
class MiddleRecipe:
    """The training of a decoder that can fill a gap, and answers no questions; see TrainingRecipe."""

    language: str
    steps: int = 2000
    rate: float = 3e-3
    seeds: tuple[int, ...] = (1,)

    @property
    def name(self) -> str:
        """The name of the recipe and of its checkpoint."""
        return f"{self.language}_middle_decoder"

    def make(self, generator: Generator) -> LanguageModel:
        """Return the model before training."""
        return LanguageModel(ModelShape(len(middle_numbers(self.language)), causal=True, answers="nowhere"), generator)

    def draw(self, generator: Generator) -> Batch:
        """Sample the batch of one step."""
        texts = draw_moved_texts(self.language, DrawnNumbers.drawn_from(generator))
        packed = pack_texts(texts, middle_numbers(self.language), ROWS, ROW_LENGTH)
        return Batch(packed, packed.words, None)

    def loss(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Compute the loss of a batch: each word is predicted from the words before, also in the suffix."""
        return foretelling_loss(model, model.run_layers(batch.seen, batch.packed.allowed), batch)
