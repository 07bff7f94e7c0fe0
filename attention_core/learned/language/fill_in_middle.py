"""Fill in the middle: the order in which a decoder can fill a gap, and how well it does, beside other models.

The order: the words before the gap, the words after it, then the middle. The decoder trained on that order is not
shipped; its figures are, in middle.json.
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


# ---- the probability of a hidden word: from the words before it, from both sides, and in this order ------------------
MIDDLE_LANGUAGE = "en"
MIDDLE_TEXTS = 300  # measured texts
PLACE_SEED = 91  # seed for the positions of the hidden words
DIGITS = 4


@dataclass(frozen=True)
class Hidden:
    """A held-out text, START first, and the position of its hidden word."""

    words: tuple[str, ...]
    at: int


@dataclass(frozen=True)
class MiddleFigures:
    """Pairs (mean probability of the hidden word, share of texts in which it is the likeliest word).

    texts: the number of texts. steps: the training steps of the decoder of the order. left: for the shipped decoder,
    from the left side. both: for the encoder, from both sides. before: for the decoder of the order, from the left
    side. order: for the decoder of the order, from both sides. nats: no such pair, but the surprise per word of whole
    texts, of the shipped decoder and of the decoder of the order.
    """

    texts: int
    steps: int
    left: list[float]
    both: list[float]
    before: list[float]
    order: list[float]
    nats: list[float]


def hide_words(language: str, count: int = MIDDLE_TEXTS) -> list[Hidden]:
    """Held-out texts with a random word after START hidden in each."""
    generator = Generator().manual_seed(PLACE_SEED)
    hidden = []
    for text in held_out_texts(language, "held", "report", count):
        at = int(torch.randint(1, len(text.words), (1,), generator=generator))
        hidden.append(Hidden(text.words, at))
    return hidden


ReadGap = Callable[[Hidden], tuple[tuple[str, ...], int]]  # text -> (input tokens, position of the prediction)


def measure_guesses_of(model: LanguageModel, language: str, texts: Sequence[Hidden], read: ReadGap) -> list[float]:
    """Measure [mean probability of the hidden words, share of texts in which they are the likeliest words].

    read: returns the tokens that the model reads for a text, and the position of the prediction.
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
    """Return the words before the hidden word, and the last position, which predicts it."""
    return text.words[: text.at], text.at - 1


def read_both(text: Hidden) -> tuple[tuple[str, ...], int]:
    """Return the whole text with the hidden word masked, and the position of that word."""
    return blank_word(text.words, text.at), text.at


def read_order(text: Hidden) -> tuple[tuple[str, ...], int]:
    """Return the words before the hidden word, <suffix>, the words after it, and <middle>, whose position predicts."""
    read = put_middle_last(text.words, text.at, text.at + 1)[:-2]  # without the word and the sign after it
    return read, len(read) - 1


# ---- figures of all three models -------------------------------------------------------------------------------------
def measure_middle(language: str) -> MiddleFigures:
    """Train the decoder of the order, and measure it and the two shipped models."""
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
