"""Toy dictionaries: words with vectors. The numbers are in examples.json.

There an entry with "like" takes whatever it does not say from the entry of that name.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from attention_core.inputs.tokenizer import tokenise, word_vector
from attention_core.mechanism.config import require_one_of

NumberRow = tuple[float, ...]
NumberMatrix = tuple[NumberRow, ...]
ORIGINS = ("built", "source", "random", "learned")  # by hand; a lecture's worked example; from a seed; by training


@dataclass(frozen=True, eq=False)
class Lexicon:
    """A toy dictionary: words with vectors, and what a word's place in the sentence adds to them.

    dims: what each number of a full vector stands for, as keys for the page's words. vectors: a word's own numbers.
    positions: None, or "centred": 1, p and p squared follow, where p is 0 in the middle of the sentence; or "left_out":
    1, 0, 0 follow. origin: where the vectors come from, one of ORIGINS. swaps: (word, other word) worth trying, because
    the attention moves.

    Raises AttentionError: unknown_choice.

    >>> LEXICA["colour"].vectors["猫"], LEXICA["colour"].place(0, 5)
    ((0, 1, 0), (1, -2, 4))
    """

    dims: tuple[str, ...]
    vectors: Mapping[str, NumberRow]
    positions: str | None = None
    origin: str = "built"
    swaps: tuple[tuple[str, str], ...] = ()

    def __post_init__(self):
        require_one_of("positions", self.positions or "none", ("none", "centred", "left_out"))
        require_one_of("origin", self.origin, ORIGINS)

    def tokens_of(self, text: str) -> tuple[str, ...]:
        """Cut a text into tokens, where neighbours that spell a word with a vector are one. Raises AttentionError."""
        return tokenise(text, words=self.vectors)

    def find(self, word: str) -> NumberRow | None:
        """Find a word's own numbers: as it is written, else without regard to capitals, else None."""
        if word in self.vectors:
            return self.vectors[word]
        folded = word.casefold()
        for known, row in self.vectors.items():
            if known.casefold() == folded:
                return row
        return None

    def vectors_of(self, tokens: Sequence[str], seed: int = 0) -> tuple[NumberMatrix, tuple[str, ...]]:
        """Give a vector for each token and its origin: the dictionary's own, or a random one; both with positions."""
        first_row = next(iter(self.vectors.values()))
        width = len(first_row)
        rows = []
        origins = []
        for i, token in enumerate(tokens):
            row = self.find(token)
            origin = self.origin
            if row is None:
                row = word_vector(token, width, seed)
                origin = "random"
            position = self.place(i, len(tokens))
            rows.append((*row, *position))
            origins.append(origin)
        return tuple(rows), tuple(origins)

    def place(self, i: int, n: int) -> NumberRow:
        """Give what position i of n adds to a vector."""
        if not self.positions:
            return ()
        middle = (n - 1) // 2
        p = 0 if self.positions == "left_out" else i - middle
        return (1, p, p * p)


# ---- reading examples.json -------------------------------------------------------------------------------------------
def read_lexica(entries: Mapping[str, dict]) -> dict[str, Lexicon]:
    """Read the lexica; where one is like another, its words replace or join the other's."""
    lexica: dict[str, Lexicon] = {}
    for name, entry in entries.items():
        like = Lexicon((), {})
        if "like" in entry:
            like = lexica[entry["like"]]
        vectors = dict(like.vectors)
        for group in entry.get("words", ()):
            row = tuple(group["vector"])
            for word in group["words"]:
                vectors[word] = row
        swaps = entry.get("swaps", like.swaps)
        lexica[name] = Lexicon(
            dims=tuple(entry.get("dims", like.dims)),
            vectors=MappingProxyType(vectors),
            positions=entry.get("positions", like.positions),
            swaps=tuple(tuple(pair) for pair in swaps),
        )
    return lexica


EXAMPLE_DATA = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
LEXICA: Mapping[str, Lexicon] = MappingProxyType(read_lexica(EXAMPLE_DATA["lexica"]))
