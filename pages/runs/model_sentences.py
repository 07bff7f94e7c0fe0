"""Sentences for a language model, whose vectors and matrices are those of one layer."""

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
    """Sentences for a language model. model: its name. layer: the layer whose attention is run, counted from 1."""

    model: str = ""
    layer: int = 1

    # -- words
    def tokens_of(self, text: str) -> tuple[str, ...]:
        """The words of a typed text, after the start token."""
        return cut_sentence(self.model, text)

    def spell(self, tokens: tuple[str, ...]) -> str:
        """A text that is tokenised to the given words."""
        words = tuple(word for word in tokens if word != START)
        if load_recipe(self.model).language != "zh":
            return " ".join(words)
        return write_model_words(words, self.tokens_of)

    def read(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The token of the model's vocabulary for each word."""
        return read_tokens(self.model, words, read_word_roles(self.word_roles))

    def inputs_for(self, words: tuple[str, ...]) -> LayerInputs:
        """The inputs of the layer for a sentence."""
        return layer_inputs(self.model, self.read(words), self.layer)

    # -- vectors
    def first_sequence(self) -> TokenSequence:
        """The sentence, with the vectors that the layer receives."""
        return self.look_up(self.own_words())

    def look_up(self, words: tuple[str, ...]) -> TokenSequence:
        """The words of a sentence, with their origins and the vectors that the layer receives."""
        chosen = read_word_roles(self.word_roles)
        origins = [origin_of(word, token, word in chosen) for word, token in zip(words, self.read(words), strict=True)]
        given = self.inputs_for(words)
        value = None if given.value is None else given.value.numpy()
        return TokenSequence(words, tuple(origins), given.x.numpy(), value=value)

    def gather(self, inputs: RunInputs) -> None:
        """Puts the words and their vectors into the inputs, and the vectors of the values if these are other ones."""
        super().gather(inputs)
        value = self.inputs_for(self.own_words()).value
        if value is not None:
            put_matrix(inputs, "value", StartMatrix(value.numpy(), "learned"))

    # -- matrices
    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """The matrices of the layer, if x and the context have the model's width; otherwise those of
        DictionarySentences.
        """
        learned = self.inputs_for(self.own_words())
        own_width = learned.x.shape[1]
        if (own_width, own_width) != (width, source):
            return super().start_matrices(width, source, heads)
        matrices = {name: StartMatrix(learned.tensor(name).numpy(), "learned") for name in PROJECTIONS}
        return StartMatrices(matrices, learned.config.heads)

    def score_weights(self) -> dict[str, np.ndarray]:
        """The learned tensors of the layer besides its projections, by name."""
        given = self.inputs_for(self.own_words()).weights.given()
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in given.items() if name in LEARNED_TENSORS}


def write_model_words(words: tuple[str, ...], tokens_of: Callable[[str], tuple[str, ...]]) -> str:
    """A text that is segmented into the given Chinese words. tokens_of: returns the tokens of a text, without START."""
    try:
        return write_tokens(words, lambda text: tokens_of(text)[1:])
    except AttentionError:  # raised for too many words, and for none
        return "".join(words)


def origin_of(word: str, token: str, is_chosen: bool) -> str:
    """The origin of a word's vector: "learned" if the model knows the word; "unknown" if it reads the token for unknown
    words; "role" if it reads the category that the visitor chose; otherwise "stand_in", an everyday word of the same
    kind.
    """
    if word == token:
        return "learned"
    if token == UNKNOWN:
        return "unknown"
    return "role" if is_chosen else "stand_in"
