"""The translators by name: the size and the training of each."""

from dataclasses import dataclass

from torch import Generator, Tensor

from attention_core.learned.grammar import vocabulary
from attention_core.learned.translation.losses import translation_loss
from attention_core.learned.translation.measures import measure_translator
from attention_core.learned.translation.model import Translator, TranslatorShape
from attention_core.learned.translation.pairs import SOURCE, TARGET, PairBatch, draw_pair_batch


@dataclass(frozen=True)
class TranslationRecipe:
    """The training of a translator; see TrainingRecipe."""

    name: str
    steps: int = 4000
    rate: float = 3e-3
    seeds: tuple[int, ...] = (1, 2)
    choosing: tuple[str, ...] = ("held_exact", "frames_exact", "held_aligned")

    def shape(self) -> TranslatorShape:
        """The size of the translator."""
        return TranslatorShape(len(vocabulary(SOURCE)), len(vocabulary(TARGET)))

    def make(self, generator: Generator) -> Translator:
        """Return the translator before training."""
        return Translator(self.shape(), generator)

    def draw(self, generator: Generator) -> PairBatch:
        """Sample the batch of one step."""
        return draw_pair_batch(generator)

    def loss(self, model: Translator, batch: PairBatch) -> Tensor:
        """Compute the loss of a batch."""
        return translation_loss(model, batch)

    def measure(self, model: Translator, half: str) -> dict[str, float]:
        """Measure its translations and its alignment; see measure_translator."""
        return measure_translator(model, half)


TRANSLATION_RECIPES = {recipe.name: recipe for recipe in [TranslationRecipe("translation_en_zh")]}
