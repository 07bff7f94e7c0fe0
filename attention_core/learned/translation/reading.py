"""The input and the output of a translator: the words of a sentence and its translation, and the run of all parts."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.grammar import cut_words, vocabulary
from attention_core.learned.language.batches import START, word_numbers
from attention_core.learned.language.reading import begin_sentence, known_tokens
from attention_core.learned.translation.pairs import SOURCE, TARGET
from attention_core.learned.translation.recipes import TRANSLATION_RECIPES, TRANSLATORS
from attention_core.learned.translation.translating import translate
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.transformer.stack import UNEMBEDDING, Stack


def cut_for_translator(text: str, language: str) -> tuple[str, ...]:
    """Cut a typed text into words, and return START and these words. Raises AttentionError: no_tokens,
    model_too_long."""
    return begin_sentence(cut_words(text.replace(START, " "), language))


@lru_cache(maxsize=64)
def translate_words(name: str, source: tuple[str, ...]) -> tuple[str, ...]:
    """The translation that a translator generates, after START. source: the words of the sentence, after START."""
    (words,) = translate(TRANSLATORS.load(name), [source[1:]])
    return (START, *words)


@lru_cache(maxsize=8)  # a result has all steps of all layers: two megabytes for long sentences
def run_translator(name: str, source: tuple[str, ...], target: tuple[str, ...]) -> Stack:
    """The run of a translator on a sentence and a translation, in float64, with every step recorded.

    name: of a shipped translator. source, target: the words of sentence and translation, after START. A word outside
    the vocabulary is read as <unknown>. Raises AttentionError: unknown_choice.
    """
    numbers = []
    for words, language in ((source, SOURCE), (target, TARGET)):
        known = known_tokens(words, language, {})
        numbers.append(torch.tensor([[word_numbers(language)[word] for word in known]]))
    with torch.inference_mode():
        return TRANSLATORS.load(name).stack(*numbers)


@dataclass(frozen=True, eq=False)
class CrossInputs:
    """The inputs of a layer's cross-attention, as arguments of attend.

    x: the inputs of the queries, from the decoder. context: the encoder's output."""

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
    """The inputs of a layer's cross-attention in a run, see run_translator; layers are counted from 1."""
    trace = run_translator(name, source, target)[f"{layer}.cross"]
    weights = TRANSLATORS.load(name).decoder[layer - 1].weights().cross
    return CrossInputs(trace["query"][0], trace["key"][0], weights, cross_config(name))


def cross_config(name: str) -> AttentionConfig:
    """The config of the cross-attention, the same in each layer. Raises AttentionError: unknown_choice."""
    return TRANSLATION_RECIPES[name].shape().attention()


def aligning_head(name: str) -> int:
    """The head of the last layer, from 0, whose largest weight is most often on the word of equal meaning."""
    return int(TRANSLATORS.figures()[name].figures["head"]) - 1


def next_words(name: str, source: tuple[str, ...], target: tuple[str, ...]) -> list[tuple[str, float]]:
    """(word, probability) of the likeliest next word at each row."""
    probabilities = run_translator(name, source, target)[UNEMBEDDING]["probabilities"][0]  # (T, V)
    shares, numbers = probabilities.max(-1)
    known = vocabulary(TARGET)
    words = [known[number] for number in numbers.tolist()]
    return list(zip(words, shares.tolist(), strict=True))
