"""Learns, stores and reads the subword tokens of each language, which the package includes."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from string import ascii_letters, digits, punctuation

from torch import Generator

from attention_core.learned.grammar import draw_scene
from attention_core.learned.grammar.draw import DrawnNumbers
from attention_core.learned.pieces.byte_pairs import BEGIN, Merge, growing_pieces, learn_merges, split_runs

SHIPPED_FOLDER = Path(__file__).with_name("shipped")
LEARNED_TEXTS = 4_000  # number of sentences from which subword tokens are learned
LEARNED_MERGES = 600
LEARNED_SEED = 1
ASCII = ascii_letters + digits + punctuation  # always subword tokens, even if the training text lacks them
SPACES = {"en": " ", "zh": ""}  # language -> what separates two words


@dataclass(frozen=True)
class PieceTable:
    """The subword tokens ("pieces") of a language.

    characters: BEGIN, the characters of ASCII, and those of the training text. merges: the merges, in the order in
    which they were learned.
    """

    characters: frozenset[str]
    merges: tuple[Merge, ...]

    @property
    def size(self) -> int:
        """The number of subword tokens: the characters, the 256 bytes, and one token for each merge."""
        return len(self.characters) + 256 + len(self.merges)


def learn_pieces(language: str) -> PieceTable:
    """Learn the subword tokens of a language from sentences that the grammar generates."""
    runs: Counter[str] = Counter()
    rng = DrawnNumbers(Generator().manual_seed(LEARNED_SEED))
    for _ in range(LEARNED_TEXTS):
        words = draw_scene(rng).say(language).words
        runs.update(split_runs(SPACES[language].join(words)))
    characters = {BEGIN, *ASCII}.union(*runs)
    return PieceTable(frozenset(characters), tuple(learn_merges(runs, LEARNED_MERGES)))


def ship_pieces(language: str) -> None:
    """Learn the subword tokens of a language, and write them into the package's file for it, one line per merge."""
    table = learn_pieces(language)
    merges = [json.dumps([merge.left, merge.right, merge.count], ensure_ascii=False) for merge in table.merges]
    characters = json.dumps("".join(sorted(table.characters)), ensure_ascii=False)
    lines = ",\n".join(merges)
    SHIPPED_FOLDER.mkdir(exist_ok=True)
    text = f'{{"characters": {characters}, "merges": [\n{lines}\n]}}\n'
    (SHIPPED_FOLDER / f"{language}.json").write_text(text, encoding="utf-8")
    load_pieces.cache_clear()


@cache
def load_pieces(language: str) -> PieceTable:
    """Read the subword tokens of a language from the language's file.

    >>> load_pieces("en").size > 600
    True
    """
    found = json.loads((SHIPPED_FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return PieceTable(frozenset(found["characters"]), tuple(Merge(*merge) for merge in found["merges"]))


# ---- the length of sentences in pieces, by the number of pieces in the vocabulary ------------------------------------
LENGTH_MERGES = (0, 50, 100, 200, 400, LEARNED_MERGES)  # numbers of merges for which lengths of sentences are measured
MEASURED_TEXTS, MEASURED_SEED = 100, 2  # held-out sentences: their number, and the seed that samples them
VECTOR_WIDTH = 64  # width of a subword token's embedding, as in the package's models


@dataclass(frozen=True)
class PieceLength:
    """The length of sentences in subword tokens, for one vocabulary.

    length: the mean number of subword tokens per sentence. pairs: the mean number of (query, key) pairs that attention
    compares (tokens squared). size: the number of subword tokens in the vocabulary. vectors: the number of
    parameters in their embedding table.
    """

    length: float
    pairs: float
    size: int
    vectors: int


@lru_cache(maxsize=2)
def measure_lengths(language: str) -> tuple[PieceLength, ...]:
    """Measure how many subword tokens held-out sentences have, for each number of merges in LENGTH_MERGES.

    >>> rows = measure_lengths("en")
    >>> rows[0].length > 2 * rows[-1].length, rows[-1].vectors == 64 * rows[-1].size
    (True, True)
    """
    table = load_pieces(language)
    rng = DrawnNumbers(Generator().manual_seed(MEASURED_SEED))
    lengths: dict[int, list[int]] = {merges: [] for merges in LENGTH_MERGES}
    for _ in range(MEASURED_TEXTS):
        text = SPACES[language].join(draw_scene(rng, part="held").say(language).words)
        grown = growing_pieces(text, table.merges, table.characters)
        for merges in LENGTH_MERGES:
            pieces = [pieces for learned, pieces in grown if learned <= merges][-1]
            lengths[merges].append(len(pieces))
    rows = []
    for merges, counts in lengths.items():
        size = table.size - LEARNED_MERGES + merges
        mean = sum(counts) / len(counts)
        square = sum(count**2 for count in counts) / len(counts)
        rows.append(PieceLength(mean, square, size, size * VECTOR_WIDTH))
    return tuple(rows)
