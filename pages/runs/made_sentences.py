"""Sentences whose vectors and matrices come from heads built by hand or from a trained network.

The network is a small one, a layer of a language model, or the cross-attention of a translator.
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
from pages.runs.weight_matrices import HeadSizes
from pages.setup.word_roles import read_word_roles


@dataclass(frozen=True)
class HandmadeHeads(DictionarySentences):
    """Sentences whose vectors and matrices are determined by heads built by hand.

    kinds: (name, offset) of each head.
    """

    kinds: tuple[tuple[str, int], ...] = ()

    @cached_property
    def built(self) -> BuiltHeads:
        """Returns the heads, built for the words of all sentences."""
        return build_heads(self.own_words(), self.kinds, self.further_words())

    def first_sequence(self) -> TokenSequence:
        """Returns the first sentence, with the token vectors of the built heads."""
        return self.read_by_heads(self.own_words())

    def further_sequences(self) -> list[TokenSequence]:
        """Returns the further sentences of the batch, with the token vectors of the built heads."""
        return [self.read_by_heads(words) for words in self.further_words()]

    def read_by_heads(self, words: tuple[str, ...]) -> TokenSequence:
        """Returns a sentence with the token vectors that are the input of the built heads."""
        known = self.built.words
        x = build_token_vectors(words, known)
        if self.bare:
            first_place = len(known) + 1  # the position's columns follow one column for each word, and a column of ones
            x[:, first_place:] = 0
        origins = ("built",) * len(words)
        return TokenSequence(words, origins, x)

    def column_names(self) -> tuple[str, ...]:
        """Returns the names of the columns of x: first one column per word, then the columns of the position."""
        word_columns = tuple(f"={word}" for word in self.built.words)
        return word_columns + POSITION_COLUMNS

    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """Returns the projections of the heads built by hand, which determine all sizes.

        width, source, heads: not used; see DictionarySentences.start_matrices.
        """
        built = self.built
        matrices = {
            "w_q": StartMatrix(built.w_q, "built"),
            "w_k": StartMatrix(built.w_k, "built"),
            "w_v": StartMatrix(built.w_v, "built"),
        }
        _, columns = built.w_v.shape
        return StartMatrices(matrices, HeadSizes(columns // len(built.words)))


@dataclass(frozen=True)
class LearnedTexts(DictionarySentences):
    """Texts for a trained network, which determines the vectors, the context and all matrices.

    network: the name of the network's recipe.
    """

    network: str = ""

    def view(self, text: str | None, context_text: str | None) -> AttentionView:
        """Returns the input of the network's attention for two texts.

        text: the text of the queries. context_text: the text of the keys. None stands for the example's text. Raises
        AttentionError.
        """
        return view_network(self.network, self.example, text, context_text)

    def own_view(self) -> AttentionView:
        """Returns the input of the network's attention for the typed texts; for a text that is not typed, the
        example's.
        """
        return self.view(self.text, self.context_text)

    def tokens_of(self, text: str) -> tuple[str, ...]:
        """Returns the symbols of a typed text."""
        return tuple(text.replace(" ", ""))

    def spell(self, tokens: tuple[str, ...]) -> str:
        """Returns a text that is read as exactly the given symbols."""
        return "".join(tokens)

    def first_sequence(self) -> TokenSequence:
        """Returns the text of the queries, with the network's vectors."""
        view = self.own_view()
        return make_learned_sequence(view.queries, view.x)

    def context_sequence(self) -> TokenSequence:
        """Returns the text of the keys, with the network's vectors.

        In self-attention, the vectors are those that the network computes for the context text alone.
        """
        view = self.own_view()
        if view.context is not None:
            return make_learned_sequence(view.keys, view.context)
        other = self.view(self.context_text, None)
        return make_learned_sequence(other.queries, other.x)

    def further_sequences(self) -> list[TokenSequence]:
        """Returns the further texts of the batch, with the network's vectors."""
        sequences = []
        for words in self.further_words():
            view = self.view("".join(words), self.context_text)
            sequences.append(make_learned_sequence(view.queries, view.x))
        return sequences

    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """Returns the network's matrices if x and the context have the network's widths.

        Otherwise returns the example's matrices, or random ones if the widths differ from the example's too. width: the
        width of x. source: the width of the sequence from which keys and values are computed. heads: the number of
        heads of random matrices.
        """
        learned = self.own_view()
        has_width = learned.width("x") == width
        has_source = learned.width("context") == source
        if not (has_width and has_source):
            return super().start_matrices(width, source, heads)
        matrices = {}
        for name, numbers in learned.matrices().items():
            matrices[name] = StartMatrix(numbers, "learned")
        return StartMatrices(matrices, HeadSizes(learned.heads))

    def example_matrix(self, name: str) -> StartMatrix:
        """Returns a projection that the example's network learned."""
        learned = self.example.tensor(name)
        numbers = None if learned is None else learned.numpy()
        return StartMatrix(numbers, self.example.origin)

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns {name: weight} of the additive score's weights that the network learned."""
        matrices = self.own_view().matrices()
        return {name: matrix for name, matrix in matrices.items() if name in LEARNED_TENSORS}


def make_learned_sequence(words: tuple[str, ...], x: Tensor) -> TokenSequence:
    """Returns a text with the vectors that a network computes for its symbols."""
    origins = ("learned",) * len(words)
    return TokenSequence(words, origins, x.numpy())


@dataclass(frozen=True)
class ModelSentences(DictionarySentences):
    """Sentences that are read by a language model, whose layer gives the vectors and matrices.

    model: the name of the model. layer: the layer whose attention is run, counted from 1.
    """

    model: str = ""
    layer: int = 1

    # The following methods concern the words of the sentences that the language model reads.
    def tokens_of(self, text: str) -> tuple[str, ...]:
        """Returns the words of a typed text, after the start token."""
        return cut_sentence(self.model, text)

    def spell(self, tokens: tuple[str, ...]) -> str:
        """Returns a text that is read as exactly the given words."""
        words = tuple(word for word in tokens if word != START)
        if load_recipe(self.model).language != "zh":
            return " ".join(words)
        return write_model_words(words, self.tokens_of)

    def read(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the token that the model reads for each word: the word itself or, outside the vocabulary, a
        substitute.
        """
        return read_tokens(self.model, words, read_word_roles(self.word_roles))

    def inputs_for(self, words: tuple[str, ...]) -> LayerInputs:
        """Returns the input of the layer's attention when the model runs on a sentence."""
        return layer_inputs(self.model, self.read(words), self.layer)

    # The following methods return the vectors that the shown layer of the model receives.
    def first_sequence(self) -> TokenSequence:
        """Returns the sentence, with the vectors that the layer receives."""
        return self.look_up(self.own_words())

    def look_up(self, words: tuple[str, ...]) -> TokenSequence:
        """Returns the words of a sentence, with their origins ("learned", "role" and so on) and the vectors of the
        layer's input.
        """
        chosen = read_word_roles(self.word_roles)
        origins = [origin_of(word, token, word in chosen) for word, token in zip(words, self.read(words), strict=True)]
        given = self.inputs_for(words)
        value = None if given.value is None else given.value.numpy()
        return TokenSequence(words, tuple(origins), given.x.numpy(), value=value)

    def gather(self, inputs: RunInputs) -> None:
        """Puts the words and their vectors into the inputs of a run.

        Also puts the vectors from which values are computed, if these differ from those of the keys.
        """
        super().gather(inputs)
        value = self.inputs_for(self.own_words()).value
        if value is not None:
            inputs.put("value", StartMatrix(value.numpy(), "learned"))

    # The following methods return the matrices of the model's shown layer.
    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """Returns the matrices of the layer if x and the context have the model's width.

        Otherwise returns the example's matrices, or random ones if the widths differ from the example's too. width: the
        width of x. source: the width of the sequence from which keys and values are computed. heads: the number of
        heads of random matrices.
        """
        learned = self.inputs_for(self.own_words())
        own_width = learned.x.shape[1]
        if (own_width, own_width) != (width, source):
            return super().start_matrices(width, source, heads)
        return learned_matrices(learned)

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns {name: tensor} of the layer's learned tensors other than its projections."""
        given = self.inputs_for(self.own_words()).weights.given()
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in given.items() if name in LEARNED_TENSORS}


def learned_matrices(layer: LayerInputs | CrossInputs) -> StartMatrices:
    """Returns the projections and biases of a trained layer, with its counts of heads."""
    given = {name: layer.tensor(name) for name in PROJECTIONS + BIASES}
    matrices = {
        name: StartMatrix(np.atleast_2d(tensor.numpy()), "learned")
        for name, tensor in given.items()
        if tensor is not None
    }
    return StartMatrices(matrices, HeadSizes(layer.config.heads, layer.config.kv_heads))


def write_model_words(words: tuple[str, ...], tokens_of: Callable[[str], tuple[str, ...]]) -> str:
    """Returns a Chinese text that is read as exactly the given words.

    tokens_of: a function that returns the tokens of a text, with START first.
    """
    try:
        return write_tokens(words, lambda text: tokens_of(text)[1:])
    except AttentionError:  # the text has too many words or none
        return "".join(words)


def origin_of(word: str, token: str, is_chosen: bool) -> str:
    """Returns where a word's vector comes from.

    The result is "learned" if the model knows the word, "unknown" if the model reads the token for unknown words,
    "role" if it reads the category that the visitor chose, and else "stand_in", an everyday word of the same kind.
    """
    if word == token:
        return "learned"
    if token == UNKNOWN:
        return "unknown"
    return "role" if is_chosen else "stand_in"


@dataclass(frozen=True)
class TranslatedSentences(DictionarySentences):
    """A sentence in English and its translation into Chinese by a translator.

    translator: the name of the translator. The words of the translation are the queries; from each row the translator
    generates the next word. The translation is the translator's own unless the visitor types one.
    """

    translator: str = ""

    # The following methods concern the words of the sentence and of its translation.
    def tokens_of(self, text: str) -> tuple[str, ...]:
        """Returns the words of a typed text, after the start token."""
        return cut_for_translator(text, TARGET if is_written_without_spaces(text) else SOURCE)

    def spell(self, tokens: tuple[str, ...]) -> str:
        """Returns a text that is read as exactly the given words."""
        words = tuple(word for word in tokens if word != START)
        if not is_written_without_spaces("".join(words)):
            return " ".join(words)
        return write_model_words(words, self.tokens_of)

    def source_words(self) -> tuple[str, ...]:
        """Returns the words of the sentence that is translated."""
        if self.context_text is None:
            return self.example.context_tokens
        return cut_for_translator(self.context_text, SOURCE)

    def own_words(self) -> tuple[str, ...]:
        """Returns the words of the translation: the typed words, else the words that the translator generates."""
        if self.text is None:
            return translate_words(self.translator, self.source_words())
        return cut_for_translator(self.text, TARGET)

    def inputs(self) -> CrossInputs:
        """Returns the input of the translator's cross-attention: vectors of both sentences, and weights."""
        return cross_inputs(self.translator, self.source_words(), self.own_words(), self.example.layer)

    # The following methods return the vectors of both sentences, from the decoder and the encoder.
    def first_sequence(self) -> TokenSequence:
        """Returns the translation, with the vectors from which the decoder computes its queries."""
        return self.make_sequence(self.own_words(), TARGET, self.inputs().x.numpy())

    def context_sequence(self) -> TokenSequence:
        """Returns the source sentence, with the encoder's output as its vectors."""
        return self.make_sequence(self.source_words(), SOURCE, self.inputs().context.numpy())

    def make_sequence(self, words: tuple[str, ...], language: str, vectors: np.ndarray) -> TokenSequence:
        """Returns words with their vectors; a word outside the translator's vocabulary has the origin "unknown"."""
        known = known_tokens(words, language, {})
        origins = [
            origin_of(word, UNKNOWN if word != token else word, is_chosen=False)
            for word, token in zip(words, known, strict=True)
        ]
        return TokenSequence(words, tuple(origins), vectors)

    # The following methods return the matrices of the translator's cross-attention.
    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """Returns the matrices and biases of the layer if x and the context have the translator's width.

        Otherwise returns the example's matrices, or random ones if the widths differ from the example's too. width: the
        width of x. source: the width of the sequence from which keys and values are computed. heads: the number of
        heads of random matrices.
        """
        learned = self.inputs()
        own_width = learned.x.shape[1]
        if (own_width, own_width) != (width, source):
            return super().start_matrices(width, source, heads)
        return learned_matrices(learned)

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns {name: tensor} of the layer's learned tensors other than its projections."""
        given = self.inputs().weights.given()
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in given.items() if name in LEARNED_TENSORS}
