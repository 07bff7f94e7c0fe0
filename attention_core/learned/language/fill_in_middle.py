"""Reorders texts so that a decoder can fill a gap ("fill in the middle"), and measures its accuracy beside other
models.

A text is reordered as the words before the gap, the words after it, then the words of the gap. The package has no
decoder trained on this order, only its measurements, in middle.json.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from attention_core.learned.grammar import Text, vocabulary
from attention_core.learned.grammar.draw import DrawnNumbers, RandomNumbers
from attention_core.learned.language.batches import ROW_LENGTH, ROWS, Batch, draw_texts, word_numbers
from attention_core.learned.language.making import CHECKPOINT_FOLDER, train_model
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.packing import pack_texts
from attention_core.learned.language.recipes import foretelling_loss
from attention_core.learned.language.shipped import SHIPPED_FOLDER, load_model
from attention_core.learned.language.surprise import surprises_of_texts
from attention_core.learned.language.writing import blank_word
from attention_core.learned.measured_table import MeasuredTable

# ---- the order -------------------------------------------------------------------------------------------------------
SUFFIX, MIDDLE, END = "<suffix>", "<middle>", "<end>"  # tokens that separate the parts of a reordered text
SIGNS = (SUFFIX, MIDDLE, END)
MOVED = 0.5  # share of the training texts in which the words of a gap are moved to the end


def put_middle_last(words: tuple[str, ...], first: int, stop: int) -> tuple[str, ...]:
    """Move the middle of a text to its end, so that a decoder has read both sides when it generates the middle.

    words: START and the text. first, stop: the middle is words[first:stop].

    Source: Bavarian et al. 2022 (arXiv 2207.14255), section 3, PSM.

    >>> put_middle_last(("<start>", "the", "dog", "barked", "."), 2, 3)
    ('<start>', 'the', '<suffix>', 'barked', '.', '<middle>', 'dog', '<end>')
    """
    return (*words[:first], SUFFIX, *words[stop:], MIDDLE, *words[first:stop], END)


def middle_numbers(language: str) -> dict[str, int]:
    """Return {token: index}: the vocabulary of a language, followed by SUFFIX, MIDDLE and END."""
    known = vocabulary(language)
    return word_numbers(language) | {sign: len(known) + n for n, sign in enumerate(SIGNS)}


def draw_moved_texts(language: str, rng: RandomNumbers) -> Iterator[Text]:
    """Yield an endless sequence of training texts; in a share MOVED of them, adjacent words are moved to the end."""
    for text in draw_texts(language, rng):
        words = text.words
        if rng.random() < MOVED:
            first, last = sorted((draw_place(words, rng), draw_place(words, rng)))
            words = put_middle_last(words, first, last + 1)
        yield text._replace(words=words, kinds=("",) * len(words), links=())


def draw_place(words: tuple[str, ...], rng: RandomNumbers) -> int:
    """Sample the position of a word after START."""
    return 1 + int(rng.random() * (len(words) - 1))


@dataclass(frozen=True)
class MiddleRecipe:
    """The recipe of a decoder that learns to fill a gap and answers no questions: its model, batches and loss."""

    language: str
    steps: int = 2000
    rate: float = 3e-3
    seeds: tuple[int, ...] = (1,)

    @property
    def name(self) -> str:
        """The name of the recipe, which is also that of its checkpoint file."""
        return f"{self.language}_middle_decoder"

    def make(self, generator: Generator) -> LanguageModel:
        """Return the model with random initial weights."""
        return LanguageModel(ModelShape(len(middle_numbers(self.language)), causal=True, answers="nowhere"), generator)

    def draw(self, generator: Generator) -> Batch:
        """Sample the training texts of one step."""
        texts = draw_moved_texts(self.language, DrawnNumbers.drawn_from(generator))
        packed = pack_texts(texts, middle_numbers(self.language), ROWS, ROW_LENGTH)
        return Batch(packed, packed.words, None)

    def loss(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Compute the loss of a batch: every word is predicted from the words before it, also the words after the
        gap.
        """
        return foretelling_loss(model, model.run_layers(batch.seen, batch.packed.allowed), batch)


# ---- the probability of a hidden word: from the words before it, from both sides, and in this order ------------------
MIDDLE_LANGUAGE = "en"
MIDDLE_TEXTS = 300  # number of texts on which models are measured
PLACE_SEED = 91  # seed that chooses the hidden words
DIGITS = 4


@dataclass(frozen=True)
class Hidden:
    """A held-out text, which begins with START, and the position of its hidden word."""

    words: tuple[str, ...]
    at: int


@dataclass(frozen=True)
class MiddleFigures:
    """How well three models predict hidden words: [mean probability of the word, share of texts in which it is the
    likeliest].

    left: the included decoder, from the words before. both: the encoder, from both sides. before: the decoder trained
    on the order of put_middle_last, from the words before. order: the same decoder, from both sides. texts: the number
    of texts. steps: the training steps of the decoder of that order. nats: the surprise per word of whole texts, [of
    the included decoder, of the decoder of that order].
    """

    texts: int
    steps: int
    left: list[float]
    both: list[float]
    before: list[float]
    order: list[float]
    nats: list[float]


def hide_words(language: str, count: int = MIDDLE_TEXTS) -> list[Hidden]:
    """Return held-out texts, each with a random word after START to hide."""
    generator = Generator().manual_seed(PLACE_SEED)
    hidden = []
    for text in held_out_texts(language, "held", "report", count):
        at = int(torch.randint(1, len(text.words), (1,), generator=generator))
        hidden.append(Hidden(text.words, at))
    return hidden


ReadGap = Callable[[Hidden], tuple[tuple[str, ...], int]]  # text -> (tokens to read, position of the prediction)


def measure_guesses_of(model: LanguageModel, language: str, texts: Sequence[Hidden], read: ReadGap) -> list[float]:
    """Return [mean probability of the hidden word, share of texts in which the hidden word is the likeliest] of a
    model.

    read: a function that returns the tokens that the model reads for a text, and the position of the prediction.
    """
    numbers = middle_numbers(language)
    shares, firsts = [], []
    for text in texts:
        words, place = read(text)
        with torch.inference_mode():
            x = model.run_layers(torch.tensor([[numbers[word] for word in words]])).end[0, place]  # (D)
        probabilities = model.word_logits(x).softmax(-1)  # (V)
        wanted = numbers[text.words[text.at]]
        shares.append(float(probabilities[wanted]))
        firsts.append(float(probabilities.argmax() == wanted))
    return [round(sum(each) / len(each), DIGITS) for each in (shares, firsts)]


# ---- what each model reads -------------------------------------------------------------------------------------------
def read_left(text: Hidden) -> tuple[tuple[str, ...], int]:
    """Return the words before the hidden word, and the position of the last of them, which predicts the hidden word."""
    return text.words[: text.at], text.at - 1


def read_both(text: Hidden) -> tuple[tuple[str, ...], int]:
    """Return the whole text with the hidden word masked, and the position of the mask, which predicts the word."""
    return blank_word(text.words, text.at), text.at


def read_order(text: Hidden) -> tuple[tuple[str, ...], int]:
    """Return a text reordered up to <middle>, and the position of <middle>, at which a decoder predicts the hidden
    word.

    The order is: the words before the hidden word, <suffix>, the words after it, <middle>.
    """
    read = put_middle_last(text.words, text.at, text.at + 1)[:-2]  # without the hidden word and <end>
    return read, len(read) - 1


# ---- figures of all three models -------------------------------------------------------------------------------------
def measure_middle(language: str) -> MiddleFigures:
    """Train a decoder to fill gaps, and measure how well it and two included models predict hidden words."""
    recipe = MiddleRecipe(language)
    trained = train_model(recipe, recipe.seeds[0], CHECKPOINT_FOLDER, print)
    texts = hide_words(language)
    decoder, encoder = (load_model(f"{language}_asked_{form}", torch.float32) for form in ("decoder", "encoder"))
    whole = [text.words for text in texts]
    nats = [torch.cat(surprises_of_texts(each, language, whole)).mean() for each in (decoder, trained)]
    return MiddleFigures(
        texts=len(texts),
        steps=recipe.steps,
        left=measure_guesses_of(decoder, language, texts, read_left),
        both=measure_guesses_of(encoder, language, texts, read_both),
        before=measure_guesses_of(trained, language, texts, read_left),
        order=measure_guesses_of(trained, language, texts, read_order),
        nats=[round(float(each), DIGITS) for each in nats],
    )


MIDDLE_FIGURES = MeasuredTable(SHIPPED_FOLDER / "middle.json", MiddleFigures, measure_middle)
