"""The shipped pieces of each language, learned from the sentences of the grammar."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_letters, digits, punctuation

from torch import Generator

from attention_core.learned.grammar import draw_scene
from attention_core.learned.language.drawn_numbers import DrawnNumbers
from attention_core.learned.pieces.byte_pairs import BEGIN, Merge, learn_merges, split_runs

SHIPPED_FOLDER = Path(__file__).with_name("shipped")
LEARNED_TEXTS = 4_000  # texts of the grammar from which pieces are learned
LEARNED_MERGES = 600
LEARNED_SEED = 1
ASCII = ascii_letters + digits + punctuation  # each character is a piece, even if the training text lacks it
SPACES = {"en": " ", "zh": ""}  # language -> the separator between its words


@dataclass(frozen=True)
class PieceTable:
    """The pieces of a language.

    characters: BEGIN, the characters of ASCII, and those of the training text. merges: in the order of learning.
    """

    characters: frozenset[str]
    merges: tuple[Merge, ...]

    @property
    def size(self) -> int:
        """The number of pieces: the characters, the 256 bytes, and one for each merge."""
        return len(self.characters) + 256 + len(self.merges)


def learn_pieces(language: str) -> PieceTable:
    """Learn the pieces of a language from sentences that the grammar writes."""
    runs: Counter[str] = Counter()
    rng = DrawnNumbers(Generator().manual_seed(LEARNED_SEED))
    for _ in range(LEARNED_TEXTS):
        words = draw_scene(rng).say(language).words
        runs.update(split_runs(SPACES[language].join(words)))
    characters = {BEGIN, *ASCII}.union(*runs)
    return PieceTable(frozenset(characters), tuple(learn_merges(runs, LEARNED_MERGES)))


def ship_pieces(language: str) -> None:
    """Learn the pieces of a language, and write them into its file, one line per merge."""
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
    """Read the pieces of a language from its file.

    >>> load_pieces("en").size > 600
    True
    """
    found = json.loads((SHIPPED_FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return PieceTable(frozenset(found["characters"]), tuple(Merge(*merge) for merge in found["merges"]))
