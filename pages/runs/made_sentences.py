"""Sentences whose vectors and matrices come from heads built by hand, or from a trained network: a small network, one
layer of a language model, or the cross-attention of a translator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch import Tensor

from attention_core.inputs.handmade_heads import POSITION_COLUMNS, BuiltHeads, build_heads, build_token_vectors
from attention_core.inputs.tokenizer import is_written_without_spaces, write_tokens
from attention_core.learned.insight.views import AttentionView
from attention_core.learned.language.batches import START
from attention_core.learned.language.reading import (
    UNKNOWN,
    LayerInputs,
    cut_sentence,
    known_tokens,
    layer_inputs,
    read_tokens,
)
from attention_core.learned.language.shipped import load_recipe
from attention_core.learned.translation.pairs import SOURCE, TARGET
from attention_core.learned.translation.reading import CrossInputs, cross_inputs, cut_for_translator, translate_words
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.record.errors import AttentionError
from pages.runs.network_store import view_network
from pages.runs.run_inputs import RunInputs, StartMatrix, TokenSequence
from pages.runs.sentences import BIASES, PROJECTIONS, DictionarySentences, StartMatrices
from pages.setup.word_roles import read_word_roles


@dataclass(frozen=True)
class HandmadeHeads(DictionarySentences):
    """Sentences for heads built by hand, which determine the vectors and the matrices. kinds: (name, offset) of each
    head.
    """

    kinds: tuple[tuple[str, int], ...] = ()

    @cached_property
    def built(self) -> BuiltHeads:
        """The heads, built for the words of all sentences."""
        return build_heads(self.own_words(), self.kinds, self.further_words())

    def first_sequence(self) -> TokenSequence:
        """The first sentence, with the token vectors of the built heads."""
        return self.read_by_heads(self.own_words())

    def further_sequences(self) -> list[TokenSequence]:
        """The further sentences of the batch, with the token vectors of the built heads."""
        return [self.read_by_heads(words) for words in self.further_words()]

    def read_by_heads(self, words: tuple[str, ...]) -> TokenSequence:
        """A sentence with the token vectors of the built heads."""
        known = self.built.words
        x = build_token_vectors(words, known)
        if self.bare:
            first_place = len(known) + 1  # without positions, only their column of ones remains
            x[:, first_place:] = 0
        origins = ("built",) * len(words)
        return TokenSequence(words, origins, x)

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns of x: one for each word, then those of the position."""
        word_columns = tuple(f"={word}" for word in self.built.words)
        return word_columns + POSITION_COLUMNS

    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """The matrices of the built heads."""
        built = self.built
        matrices = {
            "w_q": StartMatrix(built.w_q, "built"),
            "w_k": StartMatrix(built.w_k, "built"),
            "w_v": StartMatrix(built.w_v, "built"),
        }
        _, columns = built.w_v.shape
        return StartMatrices(matrices, heads=columns // len(built.words))


@dataclass(frozen=True)
class LearnedTexts(DictionarySentences):
    """Texts for a trained network, which determines the vectors, the context and all matrices. network: its recipe's
    name.
    """

    network: str = ""

    def view(self, text: str | None, context_text: str | None) -> AttentionView:
        """The inputs of the network's attention for two texts. Raises AttentionError."""
        return view_network(self.network, self.example, text, context_text)

    def own_view(self) -> AttentionView:
        """The inputs of the network's attention for the first sentence."""
        return self.view(self.text, self.context_text)

    def tokens_of(self, text: str) -> tuple[str, ...]:
        """The symbols of a typed text."""
        return tuple(text.replace(" ", ""))

    def spell(self, tokens: tuple[str, ...]) -> str:
        """A text that is tokenised to the given symbols."""
        return "".join(tokens)

    def first_sequence(self) -> TokenSequence:
        """The text of the queries, with the network's vectors."""
        view = self.own_view()
        return make_learned_sequence(view.queries, view.x)

    def context_sequence(self) -> TokenSequence:
        """The text of the keys, with the network's vectors; in self-attention, the vectors of the context text
        alone.
        """
        view = self.own_view()
        if view.context is not None:
            return make_learned_sequence(view.keys, view.context)
        other = self.view(self.context_text, None)
        return make_learned_sequence(other.queries, other.x)

    def further_sequences(self) -> list[TokenSequence]:
        """The further texts of the batch, with the network's vectors."""
        sequences = []
        for words in self.further_words():
            view = self.view("".join(words), self.context_text)
            sequences.append(make_learned_sequence(view.queries, view.x))
        return sequences

    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """The matrices of the network, if x and the context have the network's widths; otherwise those of
        DictionarySentences.
        """
        learned = self.own_view()
        has_width = learned.width("x") == width
        has_source = learned.width("context") == source
        if not (has_width and has_source):
            return super().start_matrices(width, source, heads)
        matrices = {}
        for name, numbers in learned.matrices().items():
            matrices[name] = StartMatrix(numbers, "learned")
        return StartMatrices(matrices, learned.heads)

    def example_matrix(self, name: str) -> StartMatrix:
        """One of the projections that the network of the example learned."""
        learned = self.example.tensor(name)
        numbers = None if learned is None else learned.numpy()
        return StartMatrix(numbers, self.example.origin)

    def score_weights(self) -> dict[str, np.ndarray]:
        """The additive score's weights that the network learned, by name."""
        matrices = self.own_view().matrices()
        return {name: matrix for name, matrix in matrices.items() if name in LEARNED_TENSORS}


def make_learned_sequence(words: tuple[str, ...], x: Tensor) -> TokenSequence:
    """A text with the vectors that a network computes for its symbols."""
    origins = ("learned",) * len(words)
    return TokenSequence(words, origins, x.numpy())


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
            inputs.put("value", StartMatrix(value.numpy(), "learned"))

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


@dataclass(frozen=True)
class TranslatedSentences(DictionarySentences):
    """A sentence in English, and its translation into Chinese by a translator. translator: its name.

    The words of the translation are the queries; from each row the translator generates the next word. By default the
    translation is the translator's own, instead of a typed one.
    """

    translator: str = ""

    # -- words
    def tokens_of(self, text: str) -> tuple[str, ...]:
        """The words of a typed text, after the start token."""
        return cut_for_translator(text, TARGET if is_written_without_spaces(text) else SOURCE)

    def spell(self, tokens: tuple[str, ...]) -> str:
        """A text that is tokenised to the given words."""
        words = tuple(word for word in tokens if word != START)
        if not is_written_without_spaces("".join(words)):
            return " ".join(words)
        return write_model_words(words, self.tokens_of)

    def source_words(self) -> tuple[str, ...]:
        """The words of the sentence that is translated."""
        if self.context_text is None:
            return self.example.context_tokens
        return cut_for_translator(self.context_text, SOURCE)

    def own_words(self) -> tuple[str, ...]:
        """The words of the translation: typed, otherwise generated by the translator."""
        if self.text is None:
            return translate_words(self.translator, self.source_words())
        return cut_for_translator(self.text, TARGET)

    def inputs(self) -> CrossInputs:
        """The inputs of the cross-attention."""
        return cross_inputs(self.translator, self.source_words(), self.own_words(), self.example.layer)

    # -- vectors
    def first_sequence(self) -> TokenSequence:
        """The translation with the vectors from which the decoder computes queries."""
        return self.make_sequence(self.own_words(), TARGET, self.inputs().x.numpy())

    def context_sequence(self) -> TokenSequence:
        """The source sentence with the encoder's output."""
        return self.make_sequence(self.source_words(), SOURCE, self.inputs().context.numpy())

    def make_sequence(self, words: tuple[str, ...], language: str, vectors: np.ndarray) -> TokenSequence:
        """Words with their vectors; the origin of a word that is not in the translator's vocabulary is "unknown"."""
        known = known_tokens(words, language, {})
        origins = [
            origin_of(word, UNKNOWN if word != token else word, is_chosen=False)
            for word, token in zip(words, known, strict=True)
        ]
        return TokenSequence(words, tuple(origins), vectors)

    # -- matrices
    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """The matrices and biases of the layer, if vectors have the translator's width; otherwise those of
        DictionarySentences.
        """
        learned = self.inputs()
        own_width = learned.x.shape[1]
        if (own_width, own_width) != (width, source):
            return super().start_matrices(width, source, heads)
        names = (*PROJECTIONS, *BIASES)
        matrices = {name: StartMatrix(np.atleast_2d(learned.tensor(name).numpy()), "learned") for name in names}
        return StartMatrices(matrices, learned.config.heads)

    def score_weights(self) -> dict[str, np.ndarray]:
        """The learned tensors of the layer besides its projections, by name."""
        given = self.inputs().weights.given()
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in given.items() if name in LEARNED_TENSORS}
