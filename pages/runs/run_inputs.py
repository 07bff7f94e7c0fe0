"""What goes into a run: words and matrices by name, and where each of them comes from."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from attention_core.examples.examples import Example
from attention_core.inputs.files.qkv_file import UploadedTensors
from attention_core.inputs.matrix_edits import from_short_text, random_rows, random_seed
from attention_core.inputs.tokenizer import MAX_TOKENS
from attention_core.record.errors import AttentionError
from pages.setup.setup import UNCHANGED, Setup

REQUIRED_INPUT_MATRICES = (
    "x",
    "context",
    "q",
    "k",
    "v",
    "allowed",
)  # a row a token; may not be taken away as a projection may
PAD_WORD = "<pad>"


@dataclass(frozen=True, eq=False)
class TokenSequence:
    """Tokens, where each one's vector comes from, and the vectors."""

    words: tuple[str, ...]
    origins: tuple[str, ...]
    x: np.ndarray

    def padded(self, length: int) -> "TokenSequence":
        """The same, filled up with tokens that stand for nothing: their vectors are 0."""
        missing = length - len(self.words)
        x = np.pad(self.x, ((0, missing), (0, 0)))
        return TokenSequence((*self.words, *(PAD_WORD,) * missing), (*self.origins, *("padding",) * missing), x)


@dataclass(eq=False)
class RunInputs:
    """What goes into a run: the words of both axes, the matrices by name, and each one's origin.

    Origins are built (by hand), source, random, typed (edited), given (where there was none) and removed. `seeds` says
    what a random one was drawn from, `random_rows` in which rows of a matrix random numbers are left, `bases` are the
    matrices before anybody changed them, `crossed` whether keys and values come from a second sequence, `batch` the
    sentences, where there are several, `brought` the tensors of a file, `left_out` whether steps that the file holds
    are not compared, since only a part of the keys is looked at.
    """

    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
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

    def put(self, name: str, matrix: np.ndarray, origin: str, seed: int | None = None) -> None:
        """Adds a matrix under its name."""
        self.matrices[name], self.origins[name] = np.asarray(matrix, dtype=float), origin
        if origin == "random" and seed is not None:
            self.seeds[name] = seed

    def at(self, sentence: int) -> "RunInputs":
        """The same with the words of one sentence of the batch, filled up to the longest."""
        if not self.batch:
            return self
        chosen = self.batch[min(sentence, len(self.batch) - 1)].padded(max(len(each.words) for each in self.batch))
        return replace(self, queries=chosen.words, keys=chosen.words, word_origins=chosen.origins)

    def random_words(self) -> list[str]:
        """The typed words that are in no dictionary, each once; none where the whole sequence is random."""
        pairs = [*zip(self.queries, self.word_origins, strict=False), *zip(self.keys, self.key_origins, strict=False)]
        drawn = dict.fromkeys(word for word, origin in pairs if origin == "random")
        return [] if "random" in (self.origins.get("x"), self.origins.get("context")) else list(drawn)


def put_matrix(
    material: RunInputs, name: str, setup: Setup, default: np.ndarray | None, origin: str, seed: int | None = None
) -> None:
    """A matrix as it was typed, else as the example has it; "none" takes it away. seed: of a random default."""
    put_matrix_text(material, name, getattr(setup, name), default, origin, seed)


def put_matrix_text(
    material: RunInputs, name: str, text: str | None, default: np.ndarray | None, origin: str, seed: int | None = None
) -> None:
    """A matrix by its link form."""
    if default is not None:
        material.bases[name] = np.asarray(default, dtype=float)
    if default is not None and text in (None, UNCHANGED):
        material.put(name, default, origin, seed)
    elif text not in (None, "none"):
        drawn = random_seed(text)
        kind = "random" if drawn is not None else "given" if default is None else "typed"
        material.put(name, from_short_text(text, default, name), kind, drawn)
    elif name in REQUIRED_INPUT_MATRICES:
        raise AttentionError("matrix_empty", name=name)
    elif text == "none":
        material.origins[name] = "removed"
    rows = len(material.matrices.get(name, ()))
    if name in REQUIRED_INPUT_MATRICES and rows > MAX_TOKENS:
        raise AttentionError("too_many_rows", name=name, limit=MAX_TOKENS, given=rows)
    if name in material.matrices:
        drawn = range(len(default)) if default is not None and origin == "random" else ()
        note_random_rows(material, name, text, drawn)


def note_random_rows(
    material: RunInputs, name: str, text: str | None, drawn: Iterable[int], width: int | None = None
) -> None:
    """Notes in which rows of a matrix random numbers are left. drawn: those of the matrix before anybody changed it, of
    which so many first numbers were drawn; all, where no width is given."""
    matrix, base = material.matrices[name], material.bases.get(name)
    material.random_rows[name] = random_rows(matrix, text or UNCHANGED, base, drawn, name, width)


def get_example_matrix(example: Example, name: str) -> np.ndarray | None:
    """An example's matrix as numbers."""
    tensor = example.tensor(name)
    return None if tensor is None else tensor.numpy()


def label_rows(matrix: np.ndarray, words: tuple[str, ...]) -> tuple[str, ...]:
    """Labels for rows that may have no words."""
    return words if len(words) == len(matrix) else tuple(str(row + 1) for row in range(len(matrix)))
