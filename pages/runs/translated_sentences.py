"""A sentence and its translation, whose vectors and matrices come from a translator's cross-attention."""

from dataclasses import dataclass

import numpy as np

from attention_core.inputs.tokenizer import is_written_without_spaces
from attention_core.learned.language.batches import START
from attention_core.learned.language.reading import UNKNOWN, known_tokens
from attention_core.learned.translation.pairs import SOURCE, TARGET
from attention_core.learned.translation.reading import CrossInputs, cross_inputs, cut_for_translator, translate_words
from attention_core.mechanism.config import LEARNED_TENSORS
from pages.runs.model_sentences import origin_of, write_model_words
from pages.runs.run_inputs import StartMatrix, TokenSequence
from pages.runs.sentences import BIASES, PROJECTIONS, DictionarySentences, StartMatrices


@dataclass(frozen=True)
class TranslatedSentences(DictionarySentences):
    """A sentence in English that a translator reads, and the Chinese that it writes. translator: its name.

    The words of the translation ask; each row writes the word behind it. Who types no translation sees that of the
    translator.
    """

    translator: str = ""

    # -- words
    def tokens_of(self, text: str) -> tuple[str, ...]:
        """The words of a typed text, after the start token."""
        return cut_for_translator(text, TARGET if is_written_without_spaces(text) else SOURCE)

    def spell(self, tokens: tuple[str, ...]) -> str:
        """Words as a text that gives them back."""
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
        """The words of the translation: typed, else written by the translator."""
        if self.text is None:
            return translate_words(self.translator, self.source_words())
        return cut_for_translator(self.text, TARGET)

    def inputs(self) -> CrossInputs:
        """The inputs of the cross-attention."""
        return cross_inputs(self.translator, self.source_words(), self.own_words(), self.example.layer)

    # -- vectors
    def first_sequence(self) -> TokenSequence:
        """The translation with the vectors that the decoder makes queries of."""
        return self.make_sequence(self.own_words(), TARGET, self.inputs().x.numpy())

    def context_sequence(self) -> TokenSequence:
        """The source sentence with the encoder's output."""
        return self.make_sequence(self.source_words(), SOURCE, self.inputs().context.numpy())

    def make_sequence(self, words: tuple[str, ...], language: str, vectors: np.ndarray) -> TokenSequence:
        """Words with vectors; words that the translator does not know are marked."""
        known = known_tokens(words, language, {})
        origins = [
            origin_of(word, UNKNOWN if word != token else word, is_chosen=False)
            for word, token in zip(words, known, strict=True)
        ]
        return TokenSequence(words, tuple(origins), vectors)

    # -- matrices
    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """The matrices and biases of the layer, where vectors are as wide as the translator makes them."""
        learned = self.inputs()
        own_width = learned.x.shape[1]
        if (own_width, own_width) != (width, source):
            return super().start_matrices(width, source, heads)
        names = (*PROJECTIONS, *BIASES)
        matrices = {name: StartMatrix(np.atleast_2d(learned.tensor(name).numpy()), "learned") for name in names}
        return StartMatrices(matrices, learned.config.heads)

    def score_weights(self) -> dict[str, np.ndarray]:
        """The learned tensors of the layer besides its projections."""
        given = self.inputs().weights.given()
        return {name: np.atleast_2d(tensor.numpy()) for name, tensor in given.items() if name in LEARNED_TENSORS}
