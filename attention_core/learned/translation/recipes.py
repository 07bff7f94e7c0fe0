"""Defines how the translators are trained, keyed by name, and the folder of the trained translators."""

from dataclasses import dataclass
from pathlib import Path

from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.network_folder import NetworkFolder
from attention_core.learned.translation.model import Translator, TranslatorShape
from attention_core.learned.translation.pairs import SOURCE, TARGET, PairBatch, draw_pair_batch
from attention_core.learned.translation.translating import measure_translator


def translation_loss(model: Translator, batch: PairBatch) -> Tensor:
    """Compute the mean cross-entropy, in nats, over the words of the translations and over the token that ends each."""
    stack = model.run_layers(batch.source, batch.target)
    filled = batch.target.filled
    return cross_entropy(model.word_logits(stack.end[filled]), batch.wanted[filled])


@dataclass(frozen=True)
class TranslationRecipe:
    """How a translator is trained: steps, learning rate, random seeds, and the measurements that choose among the
    seeds.
    """

    name: str
    steps: int = 4000
    rate: float = 3e-3
    seeds: tuple[int, ...] = (1, 2)
    choosing: tuple[str, ...] = ("held_exact", "frames_exact", "held_aligned")

    def shape(self) -> TranslatorShape:
        """Return the size of the translator: the size of both vocabularies, and the default widths and layers."""
        return TranslatorShape(len(vocabulary(SOURCE)), len(vocabulary(TARGET)))

    def make(self, generator: Generator) -> Translator:
        """Return a new translator with its initial weights."""
        return Translator(self.shape(), generator)

    def draw(self, generator: Generator) -> PairBatch:
        """Sample the sentence pairs of one training step."""
        return draw_pair_batch(generator)

    def loss(self, model: Translator, batch: PairBatch) -> Tensor:
        """Compute the cross-entropy of a translator on a batch of sentence pairs."""
        return translation_loss(model, batch)

    def measure(self, model: Translator, half: str) -> dict[str, float]:
        """Measure the translations and the alignment of a trained translator on held-out sentences.

        half: the half of the held-out sentences, "choose" (for choosing a seed) or "report".
        """
        return measure_translator(model, half)


TRANSLATION_RECIPES = {recipe.name: recipe for recipe in [TranslationRecipe("translation_en_zh")]}

TRANSLATORS = NetworkFolder(Path(__file__).with_name("shipped"), TRANSLATION_RECIPES)  # the trained translators
