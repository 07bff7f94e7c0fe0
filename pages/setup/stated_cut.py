"""Writes and reads the query parameter "cut": the lengths of the Chinese words in a link's texts.

With this parameter the texts of a link keep their words even if the word lists change. The parameter has one character
per word, in the order of the texts: 1 to 9, then a to z, for the number of characters of the word. Texts with
separators between the words, and single ideographs, are not included.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from attention_core.inputs.tokenizer import is_cut_by_list, split_tokens, write_tokens
from attention_core.learned.grammar import cut_words
from attention_core.learned.grammar.chinese_cut import HAN_RUN, cut_chinese
from attention_core.learned.grammar.cut_words import cut_for_grammar

LENGTHS = "0123456789abcdefghijklmnopqrstuvwxyz"
STATED = re.compile("[1-9a-z]+")


@dataclass(frozen=True)
class TextReader:
    """Splits the texts of a Setup into words, by a dictionary or by the words of the grammar.

    words: the words of the dictionary; None for the grammar.
    """

    words: frozenset[str] | None

    def cut_run(self, run: str) -> tuple[str, ...]:
        """Splits a run of adjacent ideographs, which have no spaces between them, into words."""
        return cut_for_grammar(run) if self.words is None else cut_chinese(run, self.words)

    def cut(self, text: str) -> tuple[str, ...]:
        """Returns the tokens of a text: its words and everything between them."""
        return cut_words(text, "zh") if self.words is None else split_tokens(text, self.words)


def state_cuts(texts: Sequence[str], reader: TextReader) -> str:
    """Returns the word lengths of texts as the query parameter "cut"; "" if no text is split by a word list."""
    lines = [line for text in texts for line in text.splitlines()]
    return "".join(state_cut(line, reader) for line in lines)


@lru_cache(maxsize=64)  # a script run writes the same link several times
def state_cut(line: str, reader: TextReader) -> str:
    """Returns the word lengths of one line as characters of "cut"."""
    runs = HAN_RUN.findall(line) if is_cut_by_list(line) else ()
    return "".join(LENGTHS[len(word)] for run in runs if len(run) > 1 for word in reader.cut_run(run))


def keep_cuts(texts: Sequence[str], stated: str, reader: TextReader) -> list[str]:
    """Returns texts, split into words of the lengths in `stated`, the query parameter "cut" of a link.

    A text is unchanged if it is split like that already, else it gets spaces or bars between the words. Raises
    ValueError if the lengths in `stated` do not fit the texts.
    """
    if STATED.fullmatch(stated) is None:
        raise ValueError(stated)
    if stated == state_cuts(texts, reader):
        return list(texts)
    lengths = iter(map(LENGTHS.index, stated))
    kept = ["\n".join(keep_cut(line, lengths, reader) for line in text.splitlines()) for text in texts]
    if next(lengths, None) is not None:
        raise ValueError(stated)
    return kept


def keep_cut(line: str, lengths: Iterator[int], reader: TextReader) -> str:
    """Returns one line, split into words whose lengths are taken from the iterator `lengths`.

    A line that is split like that already is unchanged; any other gets separators between the words.
    """
    if not is_cut_by_list(line):
        return line
    tokens: list[str] = []
    is_same = True
    at = 0
    for run in HAN_RUN.finditer(line):
        words = take_words(run.group(), lengths)
        is_same = is_same and words == reader.cut_run(run.group())
        tokens += (*reader.cut(line[at : run.start()]), *words)
        at = run.end()
    tokens += reader.cut(line[at:])
    return line if is_same else write_tokens(tokens, reader.cut)


def take_words(run: str, lengths: Iterator[int]) -> tuple[str, ...]:
    """Splits adjacent ideographs (`run`) into words whose lengths are taken from the iterator `lengths`.

    Raises ValueError if the lengths do not add up to that of the run.
    """
    if len(run) == 1:  # a single ideograph has no length in "cut"
        return (run,)
    words, at = [], 0
    while at < len(run):
        length = next(lengths, 0)
        if not 0 < length <= len(run) - at:
            raise ValueError(length)
        words.append(run[at : at + length])
        at += length
    return tuple(words)
