"""RunInputs, the inputs of a run: words and matrices by name, and the origin of each."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from torch import Tensor

from attention_core.inputs.files.qkv_file import UploadedTensors
from attention_core.inputs.matrix_edits import edited_matrix, random_rows, random_seed
from attention_core.inputs.matrix_values import REMOVED, UNCHANGED, MatrixValue
from attention_core.inputs.tokenizer import MAX_TOKENS
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import RandomParts

SEQUENCES = ("x", "context", "value", "q", "k", "v")  # matrices with one row per token
REQUIRED_INPUT_MATRICES = ("x", "context", "q", "k", "v", "allowed")  # matrices that the visitor may not remove
LEARNED_FOR_WEIGHTS = [name for name, tensor in LEARNED_TENSORS.items() if tensor.makes_weights]
WEIGHT_MAKING_MATRICES = ("w_q", "w_k", "b_q", "b_k", *LEARNED_FOR_WEIGHTS)  # matrices that the weights depend on
PAD_WORD = "<pad>"


@dataclass(frozen=True, eq=False)
class StartMatrix:
    """A matrix before any edit, the origin of its numbers ("built", "random" and so on), and its seed.

    numbers: None if the matrix is absent or must be typed. seed: None unless the matrix is random.
    """

    numbers: np.ndarray | None
    origin: str = ""
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class TokenSequence:
    """Tokens with the origin of each token's vector, and the vectors x; x is None if the visitor must type the vectors.

    own_width: how many leading numbers of a vector belong to the word itself and not to its position; None for all.
    value: the vectors from which values are computed, if these are not x.
    """

    words: tuple[str, ...]
    origins: tuple[str, ...]
    x: np.ndarray | None
    own_width: int | None = None
    value: np.ndarray | None = None

    def padded(self, length: int) -> "TokenSequence":
        """Returns the sequence padded to a length with zero vectors."""
        missing = length - len(self.words)
        words = self.words + missing * (PAD_WORD,)
        origins = self.origins + missing * ("padding",)
        rows, columns = (0, missing), (0, 0)  # zero rows and columns to add, as (before, after)
        x = np.pad(self.x, (rows, columns))  # (T, D) -> (length, D)
        value = None if self.value is None else np.pad(self.value, (rows, columns))
        return TokenSequence(words, origins, x, value=value)


@dataclass(eq=False)
class RunInputs:
    """The inputs of a run: the words of both axes, the matrices by name, and the origin of each.

    Origins are built (by hand), source, learned, random, typed (edited), given (typed where there was no matrix),
    removed, drawn (by a listing) and brought (from a file). `typed`: the Setup's values that replace matrices. `seeds`:
    the seed of each random matrix. `random_rows`: the rows of each matrix that still have random numbers. `bases`: the
    matrices before any edit. `crossed`: whether keys and values come from a second sequence. `batch`: the sentences of
    a batch. `brought`: the tensors of a file. `left_out`: whether steps in the file are not compared, because only a
    part of the keys is shown. `drawn`: the tensors of a listing; `matrices` has their first sequence. `layer_name`: the
    name of a recorded layer, whose matrices these are.
    """

    layer_name: str = ""
    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    typed: dict[str, MatrixValue] = field(default_factory=dict)
    matrices: dict[str, np.ndarray] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)
    random_rows: dict[str, frozenset[int]] = field(default_factory=dict)
    bases: dict[str, np.ndarray] = field(default_factory=dict)
    word_origins: tuple[str, ...] = ()
    key_origins: tuple[str, ...] = ()
    crossed: bool = False
    batch: tuple[TokenSequence, ...] = ()
    dims: tuple[str, ...] = ()
    brought: UploadedTensors | None = None
    left_out: bool = False
    drawn: dict[str, Tensor] = field(default_factory=dict)

    def at(self, sentence: int) -> "RunInputs":
        """Returns a copy with the words of one sentence of the batch, padded to the length of the longest sentence."""
        if not self.batch:
            return self
        longest = max(len(each.words) for each in self.batch)
        last = len(self.batch) - 1
        chosen = self.batch[min(sentence, last)].padded(longest)
        return replace(
            self,
            queries=chosen.words,
            keys=chosen.words,
            word_origins=chosen.origins,
        )

    def random_words(self) -> list[str]:
        """Returns the distinct words without a vector in the dictionary; [] if the whole sequence is random."""
        if "random" in (self.origins.get("x"), self.origins.get("context")):
            return []
        queries = zip(self.queries, self.word_origins, strict=False)
        keys = zip(self.keys, self.key_origins, strict=False)
        words: dict[str, None] = {}
        for word, origin in (*queries, *keys):
            if origin == "random":
                words[word] = None
        return list(words)

    def random_parts(self, tied: bool) -> RandomParts:
        """Returns the tokens with random vectors, and the random matrices among those that the weights depend on.

        tied: whether W_q is used for all projections.
        """
        queries = keys = random_positions(self.word_origins)
        if self.crossed:
            keys = random_positions(self.key_origins)
        queries |= self.random_rows.get("q", frozenset())
        keys |= self.random_rows.get("k", frozenset())
        matrices = []
        for name in WEIGHT_MAKING_MATRICES:
            is_read = not (tied and name == "w_k")
            if is_read and self.random_rows.get(name):
                matrices.append(name)
        return RandomParts({"T": queries, "S": keys}, tuple(matrices))

    # The following methods put matrices into the inputs.
    def put(self, name: str, start: StartMatrix) -> None:
        """Puts a matrix into the inputs: the visitor's typed matrix if there is one, else the matrix before any
        edit.
        """
        value = self.typed.get(name)
        numbers = start.numbers
        if numbers is not None:
            numbers = np.asarray(numbers, dtype=float)
            self.bases[name] = numbers
        is_typed = value not in (None, UNCHANGED)
        if is_typed or numbers is None:
            if value is not None or name in REQUIRED_INPUT_MATRICES:
                self.put_typed(name, start.origin)
            return
        self.matrices[name] = numbers
        self.origins[name] = start.origin
        self.random_rows[name] = frozenset()
        if start.origin == "random":
            self.random_rows[name] = frozenset(range(len(numbers)))
            if start.seed is not None:
                self.seeds[name] = start.seed

    def put_typed(self, name: str, origin: str) -> None:
        """Applies the visitor's edits of a matrix to the numbers that it had before.

        origin: the origin of the numbers before the edit.
        """
        value = self.typed.get(name)
        base = self.bases.get(name)
        is_required = name in REQUIRED_INPUT_MATRICES
        if value == REMOVED and not is_required:
            self.origins[name] = "removed"
            return
        if value in (None, REMOVED):
            raise AttentionError("matrix_empty", name=name)
        matrix = edited_matrix(value, base, name)
        rows = len(matrix)
        if is_required and rows > MAX_TOKENS:
            raise AttentionError(
                "too_many_rows",
                name=name,
                limit=MAX_TOKENS,
                given=rows,
            )
        self.matrices[name] = matrix
        seed = random_seed(value)
        if seed is not None:
            self.origins[name] = "random"
            self.seeds[name] = seed
        else:
            self.origins[name] = "given" if base is None else "typed"
        drawn = ()
        if base is not None and origin == "random":
            drawn = range(len(base))
        self.note_random_rows(name, drawn)

    def note_random_rows(self, name: str, drawn: Iterable[int], width: int | None = None) -> None:
        """Records which rows of a matrix still have random numbers.

        drawn: the rows that were random before any edit. width: how many leading numbers of a row were random; None for
        all.
        """
        self.random_rows[name] = random_rows(
            self.matrices[name],
            self.typed.get(name, UNCHANGED),
            self.bases.get(name),
            drawn,
            name,
            width,
        )

    def typed_origins(self, name: str, start: TokenSequence) -> tuple[str, ...]:
        """Returns the origins of the vectors of a sequence that the visitor edited.

        An origin is "random" as long as the vector still has random numbers, else "typed".
        """
        drawn = sorted(random_positions(start.origins))
        self.note_random_rows(name, drawn, start.own_width if drawn else None)
        origins = ["typed"] * len(self.matrices[name])
        for row in self.random_rows[name]:
            origins[row] = "random"
        return tuple(origins)


def random_positions(origins: tuple[str, ...]) -> frozenset[int]:
    """Returns the positions whose origin is "random"."""
    return frozenset(place for place, origin in enumerate(origins) if origin == "random")


def label_rows(matrix: np.ndarray, words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the words as labels of rows if there is one word per row, else numbers from 1."""
    count = len(matrix)
    if len(words) == count:
        return words
    return tuple(str(number) for number in range(1, count + 1))
