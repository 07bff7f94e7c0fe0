"""Cuts Chinese into words: first the words of a given vocabulary, then the words of a corrected word list."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from attention_core.learned.grammar.mended_cut import mend
from attention_core.learned.grammar.word_list import cut_by_list

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ranges of ideographs for a pattern
HAN_RUN = re.compile(f"[{HAN}]+")
SPACE_INSIDE = re.compile(f"(?<=[{HAN}])\\s+(?=[{HAN}])")
LONGEST_WORD = 40  # characters
LONGEST_PARTED = 4  # characters: the largest mean length of words that spaces separate; lines of verse are longer


def cut_chinese(
    text: str, words: frozenset[str] = frozenset(), is_parted: Callable[[Sequence[str]], bool] | None = None
) -> tuple[str, ...]:
    """Cut a run of adjacent Chinese characters into words.

    text: ideographs alone. words: a vocabulary, which has priority: if its words spell the whole text, the longest
    matches are taken, else the library's words, where neighbours that together spell a word of the vocabulary are
    joined, and a word that several words of the vocabulary spell is split. is_parted: whether to split a word of the
    library into these parts; by default every such word is split.

    >>> cut_chinese("南京市长江大桥"), cut_chinese("那只狗咬了小红")
    (('南京市', '长江大桥'), ('那', '只', '狗', '咬', '了', '小红'))
    >>> cut_chinese("它喂了红烧肉", frozenset({"喂了", "它"}))
    ('它', '喂了', '红烧肉')
    """
    own = longest_words(text, words)
    if words.issuperset(own):
        return own if is_parted is None else tuple(join_kept(own, cut_by_library(text), is_parted))
    found: list[str] = []
    for word in join_known(cut_by_library(text), words):
        parts = (word,) if word in words else longest_words(word, words)
        may_part = words.issuperset(parts) and (is_parted is None or len(parts) == 1 or is_parted(parts))
        found += parts if may_part else (word,)
    return tuple(found)


def join_kept(own: Sequence[str], listed: Sequence[str], is_parted: Callable[[Sequence[str]], bool]) -> Iterator[str]:
    """Yield the words of `own`; neighbours that the library has as one word are joined unless `is_parted` is true."""
    begins = list(accumulate(map(len, own), initial=0))
    ends_of_listed = dict(pairwise(accumulate(map(len, listed), initial=0)))
    at = 0
    while at < len(own):
        end = ends_of_listed.get(begins[at], -1)
        last = begins.index(end) if end in begins else at + 1
        if last > at + 1 and is_parted(own[at:last]):
            last = at + 1
        yield "".join(own[at:last])
        at = last


def is_parted_by_hand(text: str) -> bool:
    """Whether spaces separate the words of a text: spaces are between ideographs, and the pieces are short as words.

    >>> is_parted_by_hand("我 女朋友 养了 猫"), is_parted_by_hand("我在 Google 工作")
    (True, False)
    >>> is_parted_by_hand("床前明月光 疑是地上霜")
    False
    """
    if SPACE_INSIDE.search(text) is None:
        return False
    runs = HAN_RUN.findall(text)
    return sum(map(len, runs)) <= LONGEST_PARTED * len(runs)


def longest_words(text: str, words: frozenset[str]) -> tuple[str, ...]:
    """Cut a text from the left into the longest of the words; a character that begins no word is a piece."""
    longest = longest_length(words)
    found = []
    at = 0
    while at < len(text):
        ends = range(min(len(text), at + longest), at, -1)
        end = next((end for end in ends if text[at:end] in words), at + 1)
        found.append(text[at:end])
        at = end
    return tuple(found)


@lru_cache(maxsize=64)
def longest_length(words: frozenset[str]) -> int:
    """Return the length of the longest word, at most LONGEST_WORD; 0 without words."""
    return min(max(map(len, words), default=0), LONGEST_WORD)


def join_known(pieces: Sequence[str], words: frozenset[str]) -> Iterator[str]:
    """Yield the pieces; neighbours that together spell one of the words are joined, as many as possible."""
    longest = longest_length(words)
    at = 0
    while at < len(pieces):
        word, last = pieces[at], at
        joined = word
        for reach in range(at + 1, len(pieces)):
            joined += pieces[reach]
            if len(joined) > longest:
                break
            if joined in words:
                word, last = joined, reach
        yield word
        at = last + 1


@lru_cache(maxsize=256)  # a text is cut again at every run of its page
def cut_by_library(text: str) -> tuple[str, ...]:
    """Cut a text by the words of the library and by the added everyday words, with corrections."""
    return tuple(mend(cut_by_list(text)))
