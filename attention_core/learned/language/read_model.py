"""Defines ReadModel, the interface of every model that reads words, included or recorded, and finds a model by its
name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.questions import QUESTIONS
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.learned.model_cache import MODEL_CACHE
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.bounded_cache import BoundedCache
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.transformer.embedding import embed
from attention_core.transformer.stack import Stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights

Tokens = tuple[str, ...]
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class LayerHeads:
    """The attention heads of a layer: their weights and settings.

    values_of_words: whether the layer computes its values from the words' own vectors instead of from its input.
    w_answers: the readout matrix of each head; None if no answer is read from the heads of this layer. reaches_logits:
    whether what the heads add reaches the last norm as it is; it does not if a norm lies behind this layer or a later
    one.
    """

    weights: Weights
    config: AttentionConfig
    values_of_words: bool = False
    w_answers: Float[Tensor, "H d_v D"] | None = None
    reaches_logits: bool = True


class ReadModel(Protocol):
    """A model whose layers, heads and words a page can show while it reads a text.

    name: how functions find the model. causal: whether each word reads only itself and those before it. language: "en"
    or "zh"; None for a model without a grammar. heads: the number of heads of each layer. questions: the indices of the
    questions that the model answers. vocabulary: the word of each logit; () if it has no logits. fills_masks: whether
    it predicts the word behind a mask. reads_all: whether it reads any text; if not, it reads only the text of its
    recording. returned_logits: (T, V), those that a recorded model returned, if no linear map computes them from its
    last vectors; else None. cache: keeps what is computed with it.
    """

    name: str
    causal: bool
    language: str | None
    heads: tuple[int, ...]
    questions: tuple[int, ...]
    vocabulary: Sequence[str]
    reads_all: bool
    fills_masks: bool
    returned_logits: Float[Tensor, "T V"] | None
    cache: BoundedCache

    def run(self, tokens: Tokens) -> Stack:
        """Run the model on tokens, with every step recorded."""

    def run_linked(self, tokens: Tokens) -> Stack:
        """Run the model on tokens; each part reads the result of the part before it, so that a change is passed on to
        later parts."""

    def words_of_sum(self, word: int) -> tuple[int, ...] | None:
        """Return the words whose logits are split into a sum for a selected word: that word alone, or None for all
        words."""

    def unembedding(self) -> tuple[UnembeddingWeights, UnembeddingConfig]:
        """Return the weights and the settings with which the model computes the probabilities of words."""

    def embed(self, tokens: Tokens) -> Trace:
        """Return the vectors of words without a text, as a Trace with the step `x` (1, T, D)."""

    def rows_of(self, tokens: Tokens) -> tuple[int, ...] | None:
        """Return the row of the unembedding of each word; None if the rows are unknown, or if there are none."""

    def heads_of(self, layer: int) -> LayerHeads:
        """Return the attention heads of a layer, with their weights and settings. layer: from 1."""

    def question_of(self, layer: int, head: int) -> str | None:
        """Return the question that a head answers; None if it answers none. layer: from 1. head: from 0."""

    def answer_logits(self, stack: Stack, question: int) -> Float[Tensor, "B T V"]:
        """Return the logits of the answer to one of the model's questions."""


class OwnModel:
    """A language model of this package, as a ReadModel; the attributes and methods are described there.

    >>> model = OwnModel("en_asked_decoder")
    >>> model.causal, model.heads, model.question_of(3, 0)
    (True, (4, 4, 4), 'pronoun')
    """

    reads_all = True
    returned_logits = None
    cache = MODEL_CACHE

    def __init__(self, name: str):
        self.name, self.recipe = name, load_recipe(name)
        self.shape = self.recipe.shape()
        self.causal, self.language = self.recipe.causal, self.recipe.language
        self.fills_masks = not self.causal
        self.heads, self.questions = (self.shape.heads,) * self.shape.layers, self.recipe.questions

    @cached_property
    def vocabulary(self) -> Tokens:
        """The words, in the order of the embedding rows."""
        return tuple(vocabulary(self.language))

    def run(self, tokens: Tokens) -> Stack:
        """Run the model on tokens in float64, with every step recorded."""
        return run_own(self.name, tokens)

    def run_linked(self, tokens: Tokens) -> Stack:
        """Return the run of the model; its parts read each other's results in any case."""
        return run_own(self.name, tokens)

    def words_of_sum(self, word: int) -> None:
        """Return None, because the logits of all words are split into sums."""

    def unembedding(self) -> tuple[UnembeddingWeights, UnembeddingConfig]:
        """Return the weights and the settings of the unembedding."""
        model = load_model(self.name)
        return model.weights().unembedding, model.shape.stack().unembedding

    def embed(self, tokens: Tokens) -> Trace:
        """Return the rows of words in the embedding."""
        return embed(list(self.rows_of(tokens)), load_model(self.name).weights().embedding).labelled(V=self.vocabulary)

    def rows_of(self, tokens: Tokens) -> tuple[int, ...]:
        """Return the row of each word, which is the same in the embedding and in the unembedding."""
        numbers = word_numbers(self.language)
        return tuple(numbers[token] for token in tokens)

    def heads_of(self, layer: int) -> LayerHeads:
        """Return the attention heads of a layer; some models read their answers from the heads of the last layer."""
        model = load_model(self.name)
        choices, weights = self.shape.stack().layers[layer - 1], model.layers[layer - 1].weights()
        is_asked = self.shape.answers == "heads" and layer == self.shape.layers
        answers = model.w_answers if is_asked else None
        return LayerHeads(weights.attention, choices.attention, choices.values_of_words, answers)

    def question_of(self, layer: int, head: int) -> str | None:
        """Return the question that a head of the last layer answers; None for any other head."""
        is_asked = self.shape.answers == "heads" and layer == self.shape.layers and head in self.questions
        return QUESTIONS[head] if is_asked else None

    def answer_logits(self, stack: Stack, question: int) -> Float[Tensor, "B T V"]:
        """Return the logits of the answer to a question, at every position."""
        return load_model(self.name).answer_logits(stack, question)


@MODEL_CACHE.keep
def run_own(name: str, tokens: Tokens) -> Stack:
    """Run a model of this package on tokens in float64, and return a Stack with every step recorded."""
    numbers = word_numbers(load_recipe(name).language)
    words = torch.tensor([[numbers[token] for token in tokens]])
    with torch.inference_mode():
        return load_model(name).stack(words)


# ---- by name ---------------------------------------------------------------------------------------------------------
RECORDED = "recorded:"  # how the name of a recorded model begins
OTHERS: WeakValueDictionary[str, ReadModel] = WeakValueDictionary()  # recorded models in use elsewhere
find_own = cache(OwnModel)


def find_model(name: str) -> ReadModel:
    """Return the model with a name: one of this package, or a recorded one that is kept in memory.

    Raises AttentionError: unknown_choice; layer_away for a recorded model that is no longer kept.

    >>> find_model("zh_asked_encoder").language
    'zh'
    """
    if not name.startswith(RECORDED):
        return find_own(name)
    found = OTHERS.get(name)
    if found is None:
        raise AttentionError("layer_away")
    return found


def remembered(function: Callable[..., Result]) -> Callable[..., Result]:
    """Decorator that caches a function's results in the cache of the model whose name is the function's first
    argument.
    """

    @wraps(function)
    def find(name: str, *rest: object) -> Result:
        return find_model(name).cache.get((function, name, *rest), lambda: function(name, *rest))

    return find
