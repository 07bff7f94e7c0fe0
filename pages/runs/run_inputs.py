"""The inputs of a run: words and matrices by name, and the origin of each."""

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

SEQUENCES = ("x", "context", "value", "q", "k", "v")  # a row a token
REQUIRED_INPUT_MATRICES = ("x", "context", "q", "k", "v", "allowed")  # may not be taken away as a projection may
LEARNED_FOR_WEIGHTS = [name for name, tensor in LEARNED_TENSORS.items() if tensor.makes_weights]
WEIGHT_MAKING_MATRICES = ("w_q", "w_k", "b_q", "b_k", *LEARNED_FOR_WEIGHTS)  # the weights depend on them
PAD_WORD = "<pad>"


@dataclass(frozen=True, eq=False)
class StartMatrix:
    """A matrix before any edit, None if it is absent or must be typed; its origin; and the seed of a random one."""

    numbers: np.ndarray | None
    origin: str = ""
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class TokenSequence:
    """Tokens, where each one's vector comes from, and the vectors; None where these must be typed. own_width: how many
    first numbers of a vector are the word's own and not its place's; None: all. value: what values are made of, where
    that is something else."""

    words: tuple[str, ...]
    origins: tuple[str, ...]
    x: np.ndarray | None
    own_width: int | None = None
    value: np.ndarray | None = None

    def padded(self, length: int) -> "TokenSequence":
        """The sequence padded to a length, with zero vectors."""
        missing = length - len(self.words)
        words = self.words + missing * (PAD_WORD,)
        origins = self.origins + missing * ("padding",)
        rows, columns = (0, missing), (0, 0)  # what is added before and behind
        x = np.pad(self.x, (rows, columns))  # (T, D) -> (length, D)
        value = None if self.value is None else np.pad(self.value, (rows, columns))
        return TokenSequence(words, origins, x, value=value)


@dataclass(eq=False)
class RunInputs:
    """What goes into a run: the words of both axes, the matrices by name, and each one's origin.

    Origins are built (by hand), source, random, typed (edited), given (where there was none), removed, and drawn (by a
    listing). `typed` are the values that a Setup has in the place of matrices, `seeds` says what a random one was drawn
    from, `random_rows` in which rows of a matrix random numbers are left, `bases` are the matrices before anybody
    changed them, `crossed` whether keys and values come from a second sequence, `batch` the sentences, where there are
    several, `brought` the tensors of a file, `left_out` whether steps that the file holds are not compared, since only
    a part of the keys is looked at, `drawn` the tensors of a listing, of whose sequences `matrices` have the first.
    """

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
        """The inputs with the words of one sentence of the batch, padded to the longest."""
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
        """The distinct words without a vector in the dictionary; none if the whole sequence is random."""
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
        """The tokens with random vectors, and the random matrices that make the weights. tied: whether W_q is used for
        all projections."""
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

    # -- what somebody typed
    def put_typed(self, name: str, origin: str) -> None:
        """Applies the typed value of a matrix to its base. origin: of the base."""
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
        """Notes which rows of a matrix still hold random numbers. drawn: those that were random before any edit. width:
        how many first numbers of a row were random; None: all."""
        self.random_rows[name] = random_rows(
            self.matrices[name],
            self.typed.get(name, UNCHANGED),
            self.bases.get(name),
            drawn,
            name,
            width,
        )

    def typed_origins(self, name: str, start: TokenSequence) -> tuple[str, ...]:
        """The origins of an edited sequence's vectors: random as long as random numbers are left."""
        drawn = sorted(random_positions(start.origins))
        self.note_random_rows(name, drawn, start.own_width if drawn else None)
        origins = ["typed"] * len(self.matrices[name])
        for row in self.random_rows[name]:
            origins[row] = "random"
        return tuple(origins)


def random_positions(origins: tuple[str, ...]) -> frozenset[int]:
    """The positions whose origin is random."""
    return frozenset(place for place, origin in enumerate(origins) if origin == "random")


def label_rows(matrix: np.ndarray, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words as labels of rows if there are as many, else numbers from 1."""
    count = len(matrix)
    if len(words) == count:
        return words
    return tuple(str(number) for number in range(1, count + 1))
