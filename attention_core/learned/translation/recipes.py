"""The translators by name: how large each is, and how long it learns."""

from dataclasses import dataclass

from torch import Generator, Tensor

from attention_core.learned.grammar import vocabulary
from attention_core.learned.translation.losses import translation_loss
from attention_core.learned.translation.measures import measure_translator
from attention_core.learned.translation.model import Translator, TranslatorShape
from attention_core.learned.translation.pairs import SOURCE, TARGET, PairBatch, draw_pair_batch


@dataclass(frozen=True)
class TranslationRecipe:
    """How a translator comes about; see TrainingRecipe."""

    name: str
    steps: int = 4000
    rate: float = 3e-3
    seeds: tuple[int, ...] = (1, 2)
    choosing: tuple[str, ...] = ("held_exact", "frames_exact", "held_aligned")

    def shape(self) -> TranslatorShape:
        """How large it is."""
        return TranslatorShape(len(vocabulary(SOURCE)), len(vocabulary(TARGET)))

    def make(self, generator: Generator) -> Translator:
        """Draw the translator before training."""
        return Translator(self.shape(), generator)

    def draw(self, generator: Generator) -> PairBatch:
        """Draw what it learns from at one step."""
        return draw_pair_batch(generator)

    def loss(self, model: Translator, batch: PairBatch) -> Tensor:
        """Compute the loss of a batch."""
        return translation_loss(model, batch)

    def measure(self, model: Translator, half: str) -> dict[str, float]:
        """Measure how well it translates and aligns; see measure_translator."""
        return measure_translator(model, half)


TRANSLATION_RECIPES = {recipe.name: recipe for recipe in [TranslationRecipe("translation_en_zh")]}
