"""Sentences of a language model, one layer of which gives their vectors and matrices."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attention_core.inputs.tokenizer import write_tokens
from attention_core.learned.language.batches import START
from attention_core.learned.language.reading import UNKNOWN, LayerInputs, cut_sentence, layer_inputs, read_tokens
from attention_core.learned.language.shipped import load_recipe
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.record.errors import AttentionError
from pages.runs.run_inputs import RunInputs, StartMatrix, TokenSequence
from pages.runs.sentences import PROJECTIONS, DictionarySentences, StartMatrices, put_matrix
from pages.setup.word_roles import read_word_roles


@dataclass(frozen=True)
class ModelSentences(DictionarySentences):
    """Sentences that a language model reads. model: its name. layer: the one whose attention is run, counted from 1."""

    model: str = ""
    layer: int = 1

    # -- words
    def tokens_of(self, text: str) -> tuple[str, ...]:
        """The words of a typed text, after the start token."""
        return cut_sentence(self.model, text)

    def spell(self, tokens: tuple[str, ...]) -> str:
        """Words as a text that gives them back."""
        words = tuple(word for word in tokens if word != START)
        if load_recipe(self.model).language != "zh":
            return " ".join(words)
        return write_model_words(words, self.tokens_of)

    def read(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The token that the model reads for each word."""
        return read_tokens(self.model, words, read_word_roles(self.word_roles))

    def inputs_for(self, words: tuple[str, ...]) -> LayerInputs:
        """The inputs of the layer for a sentence."""
        return layer_inputs(self.model, self.read(words), self.layer)

    # -- vectors
    def first_sequence(self) -> TokenSequence:
        """The sentence, with the vectors that the layer begins with."""
        return self.look_up(self.own_words())

    def look_up(self, words: tuple[str, ...]) -> TokenSequence:
        """A sentence with the vectors that the layer begins with."""
        chosen = read_word_roles(self.word_roles)
        origins = [origin_of(word, token, word in chosen) for word, token in zip(words, self.read(words), strict=True)]
        given = self.inputs_for(words)
        value = None if given.value is None else given.value.numpy()
        return TokenSequence(words, tuple(origins), given.x.numpy(), value=value)

    def gather(self, inputs: RunInputs) -> None:
        """Puts the words and their vectors; those that values are made of, where they are others."""
        super().gather(inputs)
        value = self.inputs_for(self.own_words()).value
        if value is not None:
            put_matrix(inputs, "value", StartMatrix(value.numpy(), "learned"))

    # -- matrices
    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """The matrices of the layer, where x is as wide as the model makes it."""
        learned = self.inputs_for(self.own_words())
        own_width = learned.x.shape[1]
        if (own_width, own_width) != (width, source):
            return super().start_matrices(width, source, heads)
        matrices = {name: StartMatrix(learned.tensor(name).numpy(), "learned") for name in PROJECTIONS}
        return StartMatrices(matrices, learned.config.heads)

    def score_weights(self) -> dict[str, np.ndarray]:
        """The learned tensors of the layer besides its projections."""
        given = self.inputs_for(self.own_words()).weights.given()
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in given.items() if name in LEARNED_TENSORS}


def write_model_words(words: tuple[str, ...], tokens_of: Callable[[str], tuple[str, ...]]) -> str:
    """A text that is cut to the given Chinese words. tokens_of: the tokens of a text, after the start token."""
    try:
        return write_tokens(words, lambda text: tokens_of(text)[1:])
    except AttentionError:  # of too many words, or of none
        return "".join(words)


def origin_of(word: str, token: str, is_chosen: bool) -> str:
    """Where a word's vector comes from: the model knows it, or reads nothing, an everyday word of its kind, or the
    category that somebody chose, in its place."""
    if word == token:
        return "learned"
    if token == UNKNOWN:
        return "unknown"
    return "role" if is_chosen else "stand_in"
