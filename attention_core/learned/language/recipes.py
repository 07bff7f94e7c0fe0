"""Defines the training recipes of the language models, keyed by name: shape, loss and training of each."""

from dataclasses import dataclass
from itertools import product

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import Batch, draw_batch
from attention_core.learned.language.measures import measure_heads
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.questions import ABOUT, NOT_ASKED, PRONOUN, QUESTIONS
from attention_core.transformer.stack import Stack, StackConfig

# ---- the loss: for words to predict, for answers to questions, and for the entropy of the maps -----------------------
SMALLEST_SHARE = 1e-9  # least probability in a logarithm, because log 0 is -inf


@dataclass(frozen=True)
class Prices:
    """The factors of the loss terms that are added to the loss of word prediction.

    answers: the factor for answers that are another word. itself: the factor for answers that are the word at which the
    question is asked. spread: the factor for the mean entropy of the attention weights, so that each word attends to
    few words.
    """

    answers: float = 0.0
    itself: float = 0.0
    spread: float = 0.0


def language_loss(model: LanguageModel, batch: Batch, prices: Prices, questions: tuple[int, ...]) -> Tensor:
    """Compute the loss of a batch, in nats: word prediction, the answers to questions, and the entropy of the attention
    weights.

    prices: the factors of the loss terms. questions: the indices of the questions that the model must answer.
    """
    packed = batch.packed
    stack = model.run_layers(batch.seen, packed.allowed)
    loss = foretelling_loss(model, stack, batch)
    for question in questions:
        loss = loss + answer_loss(model, stack, batch, question, prices)
    if prices.spread:
        loss = loss + prices.spread * mean_entropy(stack, batch)
    return loss


def foretelling_loss(model: LanguageModel, stack: Stack, batch: Batch) -> Tensor:
    """Return the mean cross-entropy of the words to predict, in nats per word.

    An encoder predicts the words in batch.foretold, most of them masked; a decoder all words after the first of a text.
    """
    words, texts = batch.packed.words, batch.packed.texts
    x = stack.end  # (B, T, D)
    if batch.foretold is not None:
        return cross_entropy(model.word_logits(x[batch.foretold]), words[batch.foretold])
    is_same_text = texts[:, 1:] == texts[:, :-1]  # (B, T - 1)
    has_next = is_same_text & batch.packed.filled[:, :-1]
    here = x[:, :-1][has_next]  # (words, D): the vectors at positions with a next word
    wanted = words[:, 1:][has_next]
    return cross_entropy(model.word_logits(here), wanted)


def answer_loss(model: LanguageModel, stack: Stack, batch: Batch, question: int, prices: Prices) -> Tensor:
    """Return the loss of the answers to one question: their mean cross-entropy, times the factors in `prices`.

    Answers that are another word, and answers that are the asked word itself, are averaged separately; the two means
    are multiplied by their factors and added.
    """
    answers = batch.packed.answers[question]  # (B, T)
    rows, places = (answers != NOT_ASKED).nonzero(as_tuple=True)
    found = answers[rows, places]
    source = model.answer_source(stack, question)[rows, places]  # (asked, read): the vectors that hold the answers
    wanted = batch.packed.words[rows, found]
    surprises = cross_entropy(model.read_answers(source, question), wanted, reduction="none")
    is_itself = found == places
    loss = torch.zeros(())
    for price, part in ((prices.answers, surprises[~is_itself]), (prices.itself, surprises[is_itself])):
        if price and len(part):
            loss = loss + price * part.mean()
    return loss


def mean_entropy(stack: Stack, batch: Batch) -> Tensor:
    """Return the entropy of the attention weights, averaged over queries and heads and summed over the layers."""
    total = torch.zeros(())
    for name, trace in stack.parts.items():
        if name.endswith(".attention"):
            weights = trace["weights"].transpose(1, 2)[batch.packed.filled]  # (words, H, S): without padding
            logs = weights.clamp(min=SMALLEST_SHARE).log()
            total = total - (weights * logs).sum(-1).mean()
    return total


# ---- the models by name ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What a kind of language model learns besides word prediction, and with which seeds it is trained.

    prices: the factors of the loss terms. answers: where answers are read from: "nowhere", "sum" (a word's vector after
    the last layer) or "heads" (a separate head of that layer for each question). encoder, decoder: the indices of the
    questions that an encoder, or a decoder, must answer. seeds: one training for each seed; the best model is included
    in the package.
    """

    prices: Prices
    answers: str
    encoder: tuple[int, ...]
    decoder: tuple[int, ...]
    seeds: tuple[int, ...]


EVERY = tuple(range(len(QUESTIONS)))
KINDS = {
    # models that only predict words
    "foretold": Kind(Prices(), "nowhere", (), (), (1,)),
    # models that also find a pronoun's noun, read from a word's vector after the last layer
    "named": Kind(Prices(answers=0.5), "sum", (PRONOUN,), (ABOUT,), (1,)),
    # models that also answer four questions, each by a separate head
    "asked": Kind(Prices(answers=1.0, itself=0.2, spread=0.01), "heads", EVERY, EVERY, (1, 2, 3)),
}


@dataclass(frozen=True)
class Recipe:
    """How a language model is trained.

    kind: a key of KINDS, which says what the model learns besides predicting words.
    """

    name: str
    language: str
    causal: bool
    kind: str
    steps: int = 5000
    rate: float = 3e-3
    choosing: tuple[str, ...] = ("one_fits", "two_fit", "pairs", "across")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds with which the model is trained, once each."""
        return KINDS[self.kind].seeds

    @property
    def questions(self) -> tuple[int, ...]:
        """The indices of the questions that the model must answer."""
        kind = KINDS[self.kind]
        return kind.decoder if self.causal else kind.encoder

    def shape(self) -> ModelShape:
        """The model's shape, with the vocabulary size of its language."""
        return self.shape_for(len(vocabulary(self.language)))

    def choices(self) -> StackConfig:
        """The config of the model's layers. It does not depend on the vocabulary's size, so no vocabulary is loaded."""
        return self.shape_for(0).stack()

    def shape_for(self, words: int) -> ModelShape:
        """Return the model's shape for a vocabulary of this size."""
        return ModelShape(words, self.causal, KINDS[self.kind].answers)

    def make(self, generator: Generator) -> LanguageModel:
        """Return a new model with its initial weights."""
        return LanguageModel(self.shape(), generator)

    def draw(self, generator: Generator) -> Batch:
        """Sample the training texts of one step."""
        return draw_batch(self.language, self.causal, generator)

    def loss(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Return the loss on a batch, which training minimises."""
        return language_loss(model, batch, KINDS[self.kind].prices, self.questions)

    def measure(self, model: LanguageModel, half: str) -> dict[str, float]:
        """Measure the heads of a trained model with measure_heads, on one half of the held-out texts: "choose" or
        "report".
        """
        return measure_heads(model, self.language, half)


LANGUAGES = ("en", "zh")
FORMS = ("encoder", "decoder")


def list_recipes() -> list[Recipe]:
    """Return {name: recipe} for each combination of language, kind, and encoder or decoder."""
    recipes = []
    for language, kind, form in product(LANGUAGES, KINDS, FORMS):
        recipes.append(Recipe(f"{language}_{kind}_{form}", language, form == "decoder", kind))
    return recipes


RECIPES = {recipe.name: recipe for recipe in list_recipes()}
