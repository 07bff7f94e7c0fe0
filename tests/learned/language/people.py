"""Sentences as people type them, with the noun that is meant; and how well a model and the simple rule do on them."""

import re
from pathlib import Path
from typing import NamedTuple

from attention_core.learned.grammar import cut_words
from attention_core.learned.language.batches import START

PIECES = re.compile(r"(\*[^*]+\*|\[[^]]+\])")


class TypedSentence(NamedTuple):
    """A typed sentence.

    group: the heading above it. words: behind START. pronoun: its position. meant: the positions of the noun that it
    means, none where it means none. roles: what somebody says of unknown words, as read_tokens takes it.
    """

    group: str
    words: tuple[str, ...]
    pronoun: int
    meant: tuple[int, ...]
    roles: dict[str, str]


def read_people(language: str) -> list[TypedSentence]:
    """The sentences of a language."""
    found, group = [], ""
    for line in (Path(__file__).parent / f"people_{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# -- "):
            group = line[5:]
        elif line and not line.startswith("#"):
            found.append(read_line(group, line, language))
    return found


def read_line(group: str, line: str, language: str) -> TypedSentence:
    """Read one line."""
    sentence, _, said = line.partition("|")
    words, meant, pronoun = [START], (), -1
    for piece in PIECES.split(sentence):
        cut = cut_words(piece.strip("*[]"), language)
        if piece.startswith("*"):
            meant = tuple(range(len(words), len(words) + len(cut)))
        elif piece.startswith("["):
            pronoun = len(words)
        words += cut
    roles = dict(part.strip().split("=") for part in said.split(",") if part.strip())
    return TypedSentence(group, tuple(words), pronoun, meant, roles)
