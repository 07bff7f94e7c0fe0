"""The language models by name: the shape, the loss and the training of each."""

from dataclasses import dataclass
from itertools import product

from torch import Generator, Tensor

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import Batch, draw_batch
from attention_core.learned.language.losses import Prices, language_loss
from attention_core.learned.language.measures import measure_heads
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.questions import QUESTIONS
from attention_core.transformer.stack import StackConfig

PRONOUN, ABOUT = QUESTIONS.index("pronoun"), QUESTIONS.index("about")


@dataclass(frozen=True)
class Kind:
    """What a model of a kind learns besides predicting words.

    prices: the factors of the loss. answers: from where answers are read, see ModelShape. encoder, decoder: the numbers
    of the questions that each form is asked. seeds: one training for each; the best is shipped.
    """

    prices: Prices
    answers: str
    encoder: tuple[int, ...]
    decoder: tuple[int, ...]
    seeds: tuple[int, ...]


EVERY = tuple(range(len(QUESTIONS)))
KINDS = {
    # A model that predicts words only.
    "foretold": Kind(Prices(), "nowhere", (), (), (1,)),
    # A model that also names whom a pronoun means, read from a word's vector after the last layer.
    "named": Kind(Prices(answers=0.5), "sum", (PRONOUN,), (ABOUT,), (1,)),
    # A model that also answers four questions, each from one head.
    "asked": Kind(Prices(answers=1.0, itself=0.2, spread=0.01), "heads", EVERY, EVERY, (1, 2, 3)),
}


@dataclass(frozen=True)
class Recipe:
    """The training of a language model. kind: a key of KINDS."""

    name: str
    language: str
    causal: bool
    kind: str
    steps: int = 5000
    rate: float = 3e-3
    choosing: tuple[str, ...] = ("one_fits", "two_fit", "pairs", "across")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds with which the model is trained."""
        return KINDS[self.kind].seeds

    @property
    def questions(self) -> tuple[int, ...]:
        """The numbers of the questions that the model is asked."""
        kind = KINDS[self.kind]
        return kind.decoder if self.causal else kind.encoder

    def shape(self) -> ModelShape:
        """The model's shape, with the vocabulary of its language."""
        return self.shape_for(len(vocabulary(self.language)))

    def choices(self) -> StackConfig:
        """The config of the model's parts. It does not depend on the vocabulary, which is therefore not loaded."""
        return self.shape_for(0).stack()

    def shape_for(self, words: int) -> ModelShape:
        """The model's shape with a vocabulary of this size."""
        return ModelShape(words, self.causal, KINDS[self.kind].answers)

    def make(self, generator: Generator) -> LanguageModel:
        """Return the model before training."""
        return LanguageModel(self.shape(), generator)

    def draw(self, generator: Generator) -> Batch:
        """Sample the batch of one step."""
        return draw_batch(self.language, self.causal, generator)

    def loss(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Compute the loss of a batch."""
        return language_loss(model, batch, KINDS[self.kind].prices, self.questions)

    def measure(self, model: LanguageModel, half: str) -> dict[str, float]:
        """Measure the heads of a trained model; see measure_heads."""
        return measure_heads(model, self.language, half)


LANGUAGES = ("en", "zh")
FORMS = ("encoder", "decoder")


def list_recipes() -> list[Recipe]:
    """A recipe for each language, kind and form."""
    recipes = []
    for language, kind, form in product(LANGUAGES, KINDS, FORMS):
        recipes.append(Recipe(f"{language}_{kind}_{form}", language, form == "decoder", kind))
    return recipes


RECIPES = {recipe.name: recipe for recipe in list_recipes()}
