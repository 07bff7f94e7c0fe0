"""Runs an included translator: reads a sentence, generates its translation, and returns the inputs of its attention
layers.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.grammar import cut_words, vocabulary
from attention_core.learned.language.batches import START, word_numbers
from attention_core.learned.language.reading import begin_sentence, known_tokens
from attention_core.learned.model_cache import MODEL_CACHE
from attention_core.learned.translation.pairs import SOURCE, TARGET
from attention_core.learned.translation.recipes import TRANSLATION_RECIPES, TRANSLATORS
from attention_core.learned.translation.translating import translate
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.transformer.stack import UNEMBEDDING, Stack


def cut_for_translator(text: str, language: str) -> tuple[str, ...]:
    """Split a typed text into words, and return the start token START followed by these words.

    Raises AttentionError: no_tokens, model_too_long.
    """
    return begin_sentence(cut_words(text.replace(START, " "), language))


@lru_cache(maxsize=64)
def translate_words(name: str, source: tuple[str, ...]) -> tuple[str, ...]:
    """Return the translation that a translator generates: the start token START, followed by the words.

    name: the name of an included translator. source: START and the words of the sentence.
    """
    (words,) = translate(TRANSLATORS.load(name), [source[1:]])
    return (START, *words)


@MODEL_CACHE.keep
def run_translator(name: str, source: tuple[str, ...], target: tuple[str, ...]) -> Stack:
    """Run a translator in float64 on a sentence and a translation, and return a Stack with every step recorded.

    name: the name of an included translator. source, target: START and the words of sentence and translation. A word
    outside the vocabulary is read as <unknown>. Raises AttentionError: unknown_choice.
    """
    numbers = []
    for words, language in ((source, SOURCE), (target, TARGET)):
        known = known_tokens(words, language, {})
        numbers.append(torch.tensor([[word_numbers(language)[word] for word in known]]))
    with torch.inference_mode():
        return TRANSLATORS.load(name).stack(*numbers)


@dataclass(frozen=True, eq=False)
class CrossInputs:
    """The inputs of one cross-attention layer, as arguments of `attend`.

    x: the inputs of the queries, from the decoder. context: the encoder's output.
    """

    x: Float[Tensor, "T D"]
    context: Float[Tensor, "S D"]
    weights: Weights
    config: AttentionConfig

    def tensor(self, name: str) -> Tensor | None:
        """Return a tensor by its name, such as "x" or "w_q"; None if the layer has no such tensor."""
        if name in ("x", "context"):
            return getattr(self, name)
        return self.weights.given().get(name)


def cross_inputs(name: str, source: tuple[str, ...], target: tuple[str, ...], layer: int) -> CrossInputs:
    """Return the inputs of cross-attention in one layer of a translator, for a sentence and its translation.

    name: the name of an included translator. source, target: the start token START and the words of sentence and
    translation. layer: the index of the layer, from 1.
    """
    trace = run_translator(name, source, target)[f"{layer}.cross"]
    weights = TRANSLATORS.load(name).decoder[layer - 1].weights().cross
    return CrossInputs(trace["query"][0], trace["key"][0], weights, cross_config(name))


def cross_config(name: str) -> AttentionConfig:
    """Return the AttentionConfig of a translator's cross-attention, which is the same in each layer.

    Raises AttentionError: unknown_choice.
    """
    return TRANSLATION_RECIPES[name].shape().attention()


def aligning_head(name: str) -> int:
    """Return the index, from 0, of the head in the last layer that aligns source and target words best.

    The largest weight of this head is most often on the source word with the same meaning.
    """
    return int(TRANSLATORS.figures()[name].figures["head"]) - 1


def next_words(name: str, source: tuple[str, ...], target: tuple[str, ...]) -> list[tuple[str, float]]:
    """Return (likeliest next word, its probability) for each position of the translation `target`."""
    probabilities = run_translator(name, source, target)[UNEMBEDDING]["probabilities"][0]  # (T, V)
    shares, numbers = probabilities.max(-1)
    known = vocabulary(TARGET)
    words = [known[number] for number in numbers.tolist()]
    return list(zip(words, shares.tolist(), strict=True))
