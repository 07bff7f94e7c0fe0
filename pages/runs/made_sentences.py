"""Sentences whose vectors come from heads built by hand or from a trained network."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch import Tensor

from attention_core.inputs.handmade_heads import POSITION_COLUMNS, BuiltHeads, build_heads, build_token_vectors
from attention_core.learned.insight.views import AttentionView
from attention_core.mechanism.config import LEARNED_TENSORS
from pages.runs.network_store import view_network
from pages.runs.run_inputs import StartMatrix, TokenSequence
from pages.runs.sentences import DictionarySentences, StartMatrices


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
