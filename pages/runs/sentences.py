"""Sentences as the input of a run: words, their vectors, and the matrices of the layer before any edit.

Here the vectors come from a dictionary; made_sentences.py has sentences whose vectors have other sources.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from attention_core.examples.code_examples import ListedTensor
from attention_core.examples.examples import Example, MatrixRecipe
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_values import REMOVED, UNCHANGED
from attention_core.inputs.subwords import read_marked_text
from attention_core.inputs.tokenizer import (
    MAX_TEXT_LENGTH,
    Lexicon,
    NumberMatrix,
    check_token_limits,
    join_tokens,
    tokenise,
)
from attention_core.record.errors import AttentionError
from pages.runs.run_inputs import RunInputs, StartMatrix, TokenSequence, label_rows
from pages.runs.weight_matrices import HeadSizes, cut_rows, cut_to_sizes
from pages.setup.word_roles import read_word_roles

MAX_BATCH_SENTENCES = 8  # most sentences of a batch, including the first
MAX_REMEMBERED_TEXTS = 32  # the tokens of this many texts are cached, because the fields of a link are tried one by one
MAX_REMEMBERED_VECTORS = 8  # the vectors of this many texts are cached; a text of 512 words of width 512 takes 2 MB
SEED_STRIDE = 10  # successive Setup seeds are this far apart as seeds of matrices; an example's own seeds are smaller
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")
NO_MATRIX = StartMatrix(None)


@dataclass(frozen=True)
class StartMatrices:
    """The projections and biases before any edit, and the counts of heads whose columns they contain."""

    by_name: dict[str, StartMatrix]
    sizes: HeadSizes


@dataclass(frozen=True)
class DictionarySentences:
    """Words with vectors from the example's dictionary; a word that it lacks gets the vector of its role, such as
    "person".

    text, context_text: typed sentences; None for those of the example. crossed: whether keys and values come from the
    second sentence. more: the lines of further sentences, which make a batch. typed: which of x and the context are
    typed as matrices. bare: whether the position is left out of the vectors. word_roles: the roles of words, in the
    form of the Setup field. by_character: whether Chinese is segmented into characters instead of words.
    """

    example: Example
    text: str | None = None
    context_text: str | None = None
    crossed: bool = False
    more: tuple[str, ...] = ()
    typed: frozenset[str] = frozenset()
    bare: bool = False
    seed: int = 0
    word_roles: tuple[str, ...] = ()
    by_character: bool = False

    # The following methods concern the words of the sentences.
    def lexicon(self) -> Lexicon:
        """Returns the example's dictionary. Raises AttentionError if the example has only numbers."""
        return self.example.dictionary()

    def tokens_of(self, text: str) -> tuple[str, ...]:
        """Returns the tokens of a typed text."""
        return cut_text(text, self.words_in_front(), self.by_character)

    def words_in_front(self) -> frozenset[str]:
        """Returns the dictionary words that have priority when a text without spaces is split into words."""
        return frozenset() if self.by_character else frozenset(self.lexicon().vectors)

    def spell(self, tokens: tuple[str, ...]) -> str:
        """Returns a text that is read as exactly the given tokens."""
        try:
            return join_tokens(tokens, self.words_in_front(), self.by_character)
        except AttentionError:
            return " ".join(tokens)

    def typed_or_shipped(self, text: str | None, shipped: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the tokens of a typed text; without a typed text, those of the example."""
        return shipped if text is None else self.tokens_of(text)

    def own_words(self) -> tuple[str, ...]:
        """Returns the words of the first sentence."""
        return self.typed_or_shipped(self.text, self.example.tokens)

    def further_words(self) -> list[tuple[str, ...]]:
        """Returns the words of the further sentences in the batch."""
        if len(self.more) >= MAX_BATCH_SENTENCES:
            raise AttentionError(
                "too_many_sentences",
                limit=MAX_BATCH_SENTENCES,
                given=len(self.more) + 1,
            )
        return [self.tokens_of(line) for line in self.more]

    # The following methods return the words with their vectors.
    def first_sequence(self) -> TokenSequence:
        """Returns the first sentence with its vectors before any edit."""
        shipped_words = self.example.tokens
        shipped = self.example.x
        if shipped is None:
            if "x" in self.typed:  # the example's q, k and v do not belong to the typed x, which has no words yet
                return self.shipped_sequence(shipped_words, None)
            words = self.tokens_of(self.text or "")
            return self.look_up(words)
        if self.bare and self.lexicon().positions is not None:
            words = self.typed_or_shipped(self.text or None, shipped_words)
            return self.look_up(words)
        if self.text is None:
            return self.shipped_sequence(shipped_words, shipped)
        words = self.tokens_of(self.text)
        return self.look_up(words)

    def context_sequence(self) -> TokenSequence:
        """Returns the sequence of keys and values before any edit."""
        example = self.example
        shipped_words = example.context_tokens or example.tokens
        shipped = example.context
        if shipped is None:
            shipped = example.x
        if shipped is None and "context" in self.typed:
            return self.shipped_sequence(shipped_words, None)
        if shipped is None or self.context_text is not None:
            words = self.tokens_of(self.context_text or "")
            return self.look_up(words)
        return self.shipped_sequence(shipped_words, shipped)

    def further_sequences(self) -> list[TokenSequence]:
        """Returns the further sentences of a batch, with their vectors before any edit."""
        return [self.look_up(words) for words in self.further_words()]

    def shipped_sequence(self, words: tuple[str, ...], numbers: NumberMatrix | MatrixRecipe | None) -> TokenSequence:
        """Returns the example's words with the example's vectors."""
        origins = (self.example.origin,) * len(words)
        return TokenSequence(words, origins, to_matrix(numbers))

    def look_up(self, words: tuple[str, ...]) -> TokenSequence:
        """Returns a sentence with vectors from the dictionary; a missing word gets the vector of its role, such as
        "person".
        """
        rows, origins, own_width = look_up_vectors(words, self.lexicon(), self.bare, self.seed, self.word_roles)
        return TokenSequence(words, origins, np.array(rows, dtype=float), own_width)

    def sequence_seed(self, name: str) -> int:
        """Returns the seed of the random vectors of x, or of the context."""
        if name == "x":
            numbers = self.example.x
            text = self.text
        else:
            numbers = self.example.context
            text = self.context_text
        is_shipped = text is None and isinstance(numbers, MatrixRecipe)
        return numbers.seed if is_shipped else self.seed

    def column_names(self) -> tuple[str, ...]:
        """Returns the names of the columns of x."""
        return self.example.dims

    # The following methods return the matrices of the layer before any edit.
    def start_matrices(self, width: int, source: int, heads: int) -> StartMatrices:
        """Returns the example's matrices if the input has the example's widths, else random ones.

        width: the width of x. source: the width of the sequence from which keys and values are computed.
        """
        example = self.example
        own = {name: self.example_matrix(name) for name in PROJECTIONS}
        w_q = own["w_q"].numbers
        w_k = own["w_k"].numbers
        if w_q is not None:
            shipped_widths = (len(w_q), len(w_k))
            if shipped_widths != (width, source):
                return draw_start_matrices(width, source, heads, self.seed)
        for name in BIASES:
            bias = getattr(example, name)
            if bias is not None:
                row = bias if isinstance(bias, ListedTensor) else (bias,)
                own[name] = StartMatrix(to_matrix(row), example.origin)  # (1, H d_k)
        return StartMatrices(own, HeadSizes(example.heads))

    def example_matrix(self, name: str) -> StartMatrix:
        """Returns one of the example's projections.

        A random projection is sampled with a seed that depends on the Setup's seed.
        """
        numbers = getattr(self.example, name)
        seed = None
        if isinstance(numbers, MatrixRecipe):
            seed = numbers.seed + SEED_STRIDE * self.seed
            numbers = replace(numbers, seed=seed)
        return StartMatrix(to_matrix(numbers), self.example.origin, seed)

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns the learned weights of the score function; {} here, because a dictionary's layer has none."""
        return {}

    # The following methods put words, vectors and matrices into the inputs of a run.
    def gather(self, inputs: RunInputs) -> None:
        """Puts the words and their edited vectors into the inputs. Raises AttentionError."""
        own = self.first_sequence()
        inputs.queries, inputs.word_origins = self.put_sequence(inputs, "x", own)
        inputs.keys = inputs.queries
        inputs.crossed = self.crossed
        if self.crossed:
            context = self.context_sequence()
            inputs.keys, inputs.key_origins = self.put_sequence(inputs, "context", context)
        others = self.further_sequences()
        if others:
            inputs.batch = (own, *others)
        if inputs.typed.get("x", UNCHANGED) == UNCHANGED:
            inputs.dims = self.column_names()

    def put_sequence(
        self, inputs: RunInputs, name: str, start: TokenSequence
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Puts a sequence's edited vectors into the inputs; returns its words and the origin of each vector."""
        origin = self.example.origin
        if set(start.origins) == {"random"}:
            origin = "random"
        matrix = StartMatrix(
            start.x,
            origin=origin,
            seed=self.sequence_seed(name),
        )
        inputs.put(name, matrix)
        if inputs.typed.get(name, UNCHANGED) == UNCHANGED:
            return start.words, start.origins
        words = label_rows(inputs.matrices[name], start.words)
        origins = inputs.typed_origins(name, start)
        return words, origins

    def put_projections(self, inputs: RunInputs, sizes: HeadSizes) -> None:
        """Puts W_q, W_k, W_v, W_o and the biases into the inputs, cut to the chosen number of heads and head widths."""
        x = inputs.matrices["x"]
        _, width = x.shape
        _, source_width = inputs.matrices.get("context", x).shape
        starts = self.start_matrices(width, source_width, sizes.heads)
        chosen_sizes = (sizes.kv_heads, sizes.d_k, sizes.d_v)
        is_split_anew = starts.sizes.kv_heads is None and sizes.heads != starts.sizes.heads
        is_cut = is_split_anew or any(size is not None for size in chosen_sizes)
        for name in PROJECTIONS + BIASES:
            start = starts.by_name.get(name, NO_MATRIX)
            if name in BIASES:
                start = fit_bias(start, name, inputs)
            is_typed = start.origin == "typed"
            if is_cut and not is_typed:
                start = cut_to_sizes(start, name, sizes, starts.sizes)
            if sizes.key_width is not None and name in ("w_k", "w_v"):
                start = cut_rows(start, name, sizes.key_width, sizes.seed)
            inputs.put(name, start)


def fit_bias(start: StartMatrix, name: str, inputs: RunInputs) -> StartMatrix:
    """Returns the initial values of a bias; they are None if the bias's projection was removed.

    If a bias is typed but the example has none, the initial values are zeros.
    """
    projection = inputs.matrices.get(name.replace("b_", "w_"))
    if projection is None:
        return StartMatrix(None, "typed")
    if start.numbers is None and inputs.typed.get(name, REMOVED) != REMOVED:
        _, columns = projection.shape
        zeros = np.zeros((1, columns))
        return StartMatrix(zeros, "typed")
    return start


# ---- numbers ---------------------------------------------------------------------------------------------------------
def to_matrix(numbers: NumberMatrix | MatrixRecipe | ListedTensor | None) -> np.ndarray | None:
    """Returns an example's numbers as a matrix; None if the example has none.

    A recipe is sampled. Of a tensor from a listing, only the first sequence is returned.
    """
    if numbers is None:
        return None
    if isinstance(numbers, ListedTensor):
        return numbers.draw_matrix()
    if isinstance(numbers, MatrixRecipe):
        return numbers.draw().numpy()
    return np.array(numbers, dtype=float)


def draw_start_matrices(width: int, source: int, heads: int, seed: int) -> StartMatrices:
    """Samples random projections for vectors whose width is not the example's."""
    head_width = -(-width // heads)  # rounded up, so that all heads together are at least as wide as x
    inner = head_width * heads
    shapes = {
        "w_q": (width, inner),
        "w_k": (source, inner),
        "w_v": (source, inner),
        "w_o": (inner, width),
    }
    drawn = {}
    for name, shape in shapes.items():
        drawn[name] = StartMatrix(random_matrix(name, shape, seed), "random", seed)
    return StartMatrices(drawn, HeadSizes(heads))


@lru_cache(maxsize=MAX_REMEMBERED_TEXTS)
def cut_text(text: str, words: frozenset[str], by_character: bool) -> tuple[str, ...]:
    """Returns the tokens of a text, from a cache; a marked subword token (Ġcat, ##ing) stays whole."""
    marked = read_marked_text(text) if len(text) <= MAX_TEXT_LENGTH else None
    return check_token_limits(marked) if marked else tokenise(text, words, by_character)


@lru_cache(maxsize=MAX_REMEMBERED_VECTORS)
def look_up_vectors(
    words: tuple[str, ...], lexicon: Lexicon, bare: bool, seed: int, word_roles: tuple[str, ...] = ()
) -> tuple[np.ndarray, tuple[str, ...], int]:
    """Returns the vectors of words, their origins, and how many leading numbers of each vector belong to the word
    itself.
    """
    if bare and lexicon.positions:
        lexicon = replace(lexicon, positions="left_out")
    rows, origins = lexicon.vectors_of(words, seed, read_word_roles(word_roles))
    place_width = len(lexicon.place(0, 1))
    own_width = len(rows[0]) - place_width
    vectors = np.array(rows, dtype=float)  # (T, D); a list of Python numbers would need four times the memory
    vectors.setflags(write=False)
    return vectors, origins, own_width
