"""Measures how badly a decoder predicts without its mask, scale or positions, or with a single head: its mean surprise
in nats.

The decoder is not trained again: its weights were learned with the part that is removed. The results are in
removed.json.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.analysis.interventions import Intervention, intervene
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import SHIPPED_FOLDER, load_model
from attention_core.learned.language.surprise import surprises_of_texts
from attention_core.learned.measured_table import MeasuredTable
from attention_core.transformer.stack import LayerConfig, Stack, StackConfig, StackWeights, run_stack

REMOVED = ("en_asked_decoder", "zh_asked_decoder")
REMOVED_TEXTS = 300  # number of texts on which a decoder is measured
DECIMALS = 4
WHOLE = "whole"
CHOICES = {
    WHOLE: {},
    "mask": {"masks": ()},  # no mask: each word also attends to later words
    "scale": {"scale": 1.0},  # factor 1 instead of 1/√d_k
    "positions": {"positions": ()},  # no RoPE
}  # name of a removed part -> the AttentionConfig fields that remove it


@dataclass(frozen=True, eq=False)
class ChangedModel:
    """A trained model with other attention settings, with only one head per layer, or with self-attention blocked.

    choices: AttentionConfig fields -> their changed values. head: the index of the one head of each layer that is not
    ablated; None ablates no head. closed: True blocks every word from attending to itself.
    """

    model: LanguageModel
    choices: dict[str, object]
    head: int | None = None
    closed: bool = False

    @property
    def shape(self) -> ModelShape:
        """The shape of the unchanged model."""
        return self.model.shape

    def run_layers(self, words: Int[Tensor, "B T"], allowed: Bool[Tensor, "B 1 T T"] | None = None) -> Stack:
        """Run the layers with the changed attention settings and the ablated heads."""
        weights = StackWeights(self.model.weights().layers)
        config = StackConfig(tuple(map(self.change_layer, self.shape.stack().layers)))
        stack = run_stack(self.model.words[words], weights, config, allowed=allowed)
        changes = list(self.interventions_on_heads(words.shape[1]))
        return intervene(stack, changes) if changes else stack

    def change_layer(self, layer: LayerConfig) -> LayerConfig:
        """Return the config of a layer, in which the values of `choices` replace those of the trained model."""
        return replace(layer, attention=replace(layer.attention, **self.choices))

    def interventions_on_heads(self, length: int) -> Iterator[Intervention]:
        """Yield the interventions on heads: masks that block attention to the own word if `closed`, else ablations of
        all heads but one.

        If `closed` is True, each intervention is a mask on one head, which blocks every word from attending to itself.
        Otherwise each is the ablation of one head, except the head that `head` names. length: words per text.
        """
        diagonal = tuple((place, place) for place in range(length))
        for layer in range(1, self.shape.layers + 1):
            for head in range(self.shape.heads):
                if self.closed:
                    yield Intervention(f"{layer}.attention", head, "mask", diagonal)
                elif self.head not in (None, head):
                    yield Intervention(f"{layer}.attention", head)

    def word_logits(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """Return the logits of all words, computed from vectors after the last layer."""
        return self.model.word_logits(x)


@dataclass(frozen=True)
class RemovedFigures:
    """The mean surprise of a model at the next word, in nats per word: as trained, and with one part removed at a time.

    words: the number of predicted words. whole: the model as trained. mask, scale, positions: the model without this
    part. diagonal: no word may attend to itself. heads: one value per head, for a model with only that head in each
    layer.
    """

    words: int
    whole: float
    mask: float
    diagonal: float
    scale: float
    positions: float
    heads: list[float]


def measure_removed_parts(name: str, count: int = REMOVED_TEXTS) -> RemovedFigures:
    """Measure the mean surprise of an included decoder, as trained and with one part removed at a time.

    It is measured on held-out texts. count: the number of texts.
    """
    model, language = load_model(name, torch.float32), RECIPES[name].language
    texts = [text.words for text in held_out_texts(language, "held", "report", count)]
    figures = {part: mean_surprise(ChangedModel(model, choices), language, texts) for part, choices in CHOICES.items()}
    heads = [
        mean_surprise(ChangedModel(model, CHOICES[WHOLE], head), language, texts) for head in range(model.shape.heads)
    ]
    figures["diagonal"] = mean_surprise(ChangedModel(model, CHOICES[WHOLE], closed=True), language, texts)
    return RemovedFigures(sum(len(text) - 1 for text in texts), heads=heads, **figures)


def mean_surprise(model: ChangedModel, language: str, texts: list[tuple[str, ...]]) -> float:
    """Return the mean surprise of a model on texts, in nats per word."""
    surprises = surprises_of_texts(model, language, texts)
    return round(float(torch.cat(surprises).mean()), DECIMALS)


def count_words_alike(nats: float) -> int:
    r"""Return the perplexity, rounded: the number of equally likely words among which a guess would be as uncertain.

    nats: the cross-entropy per word. Source: Jelinek, Mercer, Bahl, Baker 1977, perplexity.

    >>> count_words_alike(0.0), count_words_alike(2.44)
    (1, 11)
    """
    return round(math.exp(nats))


REMOVED_FIGURES = MeasuredTable(SHIPPED_FOLDER / "removed.json", RemovedFigures, measure_removed_parts)
