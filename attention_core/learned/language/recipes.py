"""The language models by name: what each is, what it pays for, and how long it learns."""

from dataclasses import dataclass
from itertools import product

from torch import Generator, Tensor

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import Batch, draw_batch
from attention_core.learned.language.losses import Prices, language_loss
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.questions import QUESTIONS
from attention_core.transformer.stack import StackConfig

PRONOUN, ABOUT = QUESTIONS.index("pronoun"), QUESTIONS.index("about")


@dataclass(frozen=True)
class Recipe:
    """How a language model comes about.

    kind: "foretold", it foretells words and nothing else; "named", it also names who is meant; "asked", it answers four
    questions, each out of one head.
    """

    name: str
    language: str
    causal: bool
    kind: str
    steps: int = 5000
    rate: float = 3e-3

    @property
    def prices(self) -> Prices:
        """What it pays for."""
        return {
            "foretold": Prices(),
            "named": Prices(answers=0.5),
            "asked": Prices(answers=1.0, itself=0.2, spread=0.01),
        }[self.kind]

    @property
    def questions(self) -> tuple[int, ...]:
        """The questions that it is asked."""
        if self.kind == "foretold":
            return ()
        if self.kind == "named":
            return (ABOUT,) if self.causal else (PRONOUN,)
        return tuple(range(len(QUESTIONS)))

    def shape(self) -> ModelShape:
        """How large it is, and where its answers are read."""
        return self.shape_for(len(vocabulary(self.language)))

    def choices(self) -> StackConfig:
        """The choices of its parts, which do not depend on its words: those need not be read."""
        return self.shape_for(0).stack()

    def shape_for(self, words: int) -> ModelShape:
        """Its shape with so many words."""
        answers = {"foretold": "nowhere", "named": "sum", "asked": "heads"}[self.kind]
        return ModelShape(words, self.causal, answers)

    def make(self, generator: Generator) -> LanguageModel:
        """Draw the model before training."""
        return LanguageModel(self.shape(), generator)

    def draw(self, generator: Generator) -> Batch:
        """Draw what it learns from at one step."""
        return draw_batch(self.language, self.causal, generator)

    def loss(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Compute the loss of a batch."""
        return language_loss(model, batch, self.prices, self.questions)


LANGUAGES = ("en", "zh")
KINDS = ("foretold", "named", "asked")
FORMS = ("encoder", "decoder")


def list_recipes() -> list[Recipe]:
    """A model of each kind and form for each language."""
    recipes = []
    for language, kind, form in product(LANGUAGES, KINDS, FORMS):
        recipes.append(Recipe(f"{language}_{kind}_{form}", language, form == "decoder", kind))
    return recipes


RECIPES = {recipe.name: recipe for recipe in list_recipes()}
