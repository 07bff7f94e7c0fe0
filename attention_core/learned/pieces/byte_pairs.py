"""Learns and applies byte-pair encoding, which repeatedly merges the most frequent pair of neighbouring tokens into
one.

A text is first split into runs (letters of one word, adjacent Chinese characters, any other single character), and no
subword token ("piece") reaches beyond its run. A character that the training text lacks is spelled by its bytes, so
that every text can be split.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

BEGIN = "▁"  # prefix of a word's first token, if a space or the beginning of the text precedes the word
RUN_PATTERN = re.compile(r"[\u3400-\u9fff]+|[^\W\d_\u3400-\u9fff]+|\S")
LETTERS_PATTERN = re.compile(r"[^\W\d_\u3400-\u9fff]+")

Pieces = tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """Two subword tokens that are merged into one.

    count: how often they were neighbours in the training text.
    """

    left: str
    right: str
    count: int

    @property
    def joined(self) -> str:
        """The new subword token: the left token followed by the right one."""
        return self.left + self.right


# ---- learning --------------------------------------------------------------------------------------------------------
def learn_merges(runs: Mapping[str, int], count: int) -> list[Merge]:
    """Learn which pairs of subword tokens to merge, in the order of merging: each time the most frequent pair.

    runs: {run of a text, see split_runs: how often it occurs}. count: the largest number of merges. Of two equally
    frequent pairs, the first in the order of characters is taken. A pair that occurs once is not taken. Source:
    Sennrich, Haddow, Birch 2016, *Neural Machine Translation of Rare Words with Subword Units*, algorithm 1.

    >>> [merge.joined for merge in learn_merges({"▁low": 5, "▁lower": 2, "▁newest": 6, "▁widest": 3}, 4)]
    ['es', 'est', 'lo', 'low']
    """
    cut = {run: tuple(run) for run in runs}
    merges = []
    for _ in range(count):
        pairs = count_pairs(cut, runs)
        frequent = [(-often, pair) for pair, often in pairs.items() if often > 1]
        if not frequent:
            break
        minus_often, (left, right) = min(frequent)
        merge = Merge(left, right, -minus_often)
        merges.append(merge)
        cut = {run: join(pieces, merge) for run, pieces in cut.items()}
    return merges


def count_pairs(cut: Mapping[str, Pieces], runs: Mapping[str, int]) -> Counter[tuple[str, str]]:
    """Count how often each pair of subword tokens occurs as neighbours.

    cut: {run of characters: its subword tokens}. runs: {run of characters: how often it is in the text}.

    >>> count_pairs({"aab": ("a", "a", "b")}, {"aab": 3})
    Counter({('a', 'a'): 3, ('a', 'b'): 3})
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for run, pieces in cut.items():
        for pair in pairwise(pieces):
            pairs[pair] += runs[run]
    return pairs


def join(pieces: Pieces, merge: Merge) -> Pieces:
    """Return the tokens with the two tokens of a merge joined wherever they are neighbours, from left to right.

    >>> join(("a", "a", "a", "b"), Merge("a", "a", 1))
    ('aa', 'a', 'b')
    """
    if merge.left not in pieces:
        return pieces
    joined: list[str] = []
    for piece in pieces:
        if piece == merge.right and joined and joined[-1] == merge.left:
            joined[-1] = merge.joined
        else:
            joined.append(piece)
    return tuple(joined)


# ---- cutting ---------------------------------------------------------------------------------------------------------
def split_runs(text: str) -> list[str]:
    """Split a text into runs; the prefix BEGIN marks a word at the beginning of the text or after a space.

    >>> split_runs("The dogs bark."), split_runs("那只狗，它叫")
    (['▁The', '▁dogs', '▁bark', '.'], ['那只狗', '，', '它叫'])
    """
    runs = []
    for found in RUN_PATTERN.finditer(text):
        is_word = LETTERS_PATTERN.fullmatch(found[0])
        begins = found.start() == 0 or text[found.start() - 1].isspace()
        runs.append(BEGIN + found[0] if is_word and begins else found[0])
    return runs


def spell(run: str, known: Collection[str]) -> Pieces:
    """Split a run into its characters; a character that is not in `known` becomes one token for each of its bytes.

    >>> spell("a🐶", known={"a"})
    ('a', '<0xF0>', '<0x9F>', '<0x90>', '<0xB6>')
    """
    pieces: list[str] = []
    for character in run:
        if character in known:
            pieces.append(character)
        else:
            pieces += [f"<0x{byte:02X}>" for byte in character.encode("utf-8", "surrogatepass")]
    return tuple(pieces)


def cut_pieces(text: str, merges: Sequence[Merge], known: Collection[str]) -> Pieces:
    """Split a text into subword tokens: each run is spelled by characters, then joined by all merges, in their order.

    merges: a result of learn_merges. known: the characters of the training text.

    >>> cut_pieces("lowest", [Merge("l", "o", 2), Merge("lo", "w", 2), Merge("e", "s", 1)], known=set("▁lowest"))
    ('▁', 'low', 'es', 't')
    """
    pieces: list[str] = []
    for run in split_runs(text):
        cut = spell(run, known)
        for merge in merges:
            cut = join(cut, merge)
        pieces += cut
    return tuple(pieces)


def growing_pieces(text: str, merges: Sequence[Merge], known: Collection[str]) -> list[tuple[int, Pieces]]:
    """Yield (number of merges, subword tokens of the text), for 0 merges and for each further merge that changes the
    tokens.

    >>> growing_pieces("low", [Merge("x", "y", 3), Merge("l", "o", 2), Merge("lo", "w", 2)], known=set("▁low"))
    [(0, ('▁', 'l', 'o', 'w')), (2, ('▁', 'lo', 'w')), (3, ('▁', 'low'))]
    """
    cut = [spell(run, known) for run in split_runs(text)]
    grown = [(0, flatten(cut))]
    for number, merge in enumerate(merges, start=1):
        joined = [join(pieces, merge) for pieces in cut]
        if joined != cut:
            cut = joined
            grown.append((number, flatten(cut)))
    return grown


def flatten(cut: Sequence[Pieces]) -> Pieces:
    """Return the subword tokens of all runs of a text as one sequence."""
    return tuple(piece for pieces in cut for piece in pieces)


# ---- positions of tokens ---------------------------------------------------------------------------------------------
BYTE_PATTERN = re.compile("<0x[0-9A-F]{2}>")
Span = tuple[int, int]


def locate(text: str, tokens: Sequence[str]) -> list[Span]:
    """Return for each token its span in a text: (index of the first character, index after the last character).

    tokens: words, subword tokens or characters of the text, in their order; white space in the text may separate them.
    A token for one byte of a character has the span of the whole character.

    >>> locate("a low", ("▁a", "▁lo", "w")), locate("🐶", spell("🐶", known=()))
    ([(0, 1), (2, 4), (4, 5)], [(0, 1), (0, 1), (0, 1), (0, 1)])
    """
    spans = []
    at = 0
    bytes_left = 0  # bytes of the current character that are still to come
    for token in tokens:
        while at < len(text) and text[at].isspace():
            at += 1
        if BYTE_PATTERN.fullmatch(token):
            spans.append((at, at + 1))
            bytes_left = (bytes_left or len(text[at].encode("utf-8", "surrogatepass"))) - 1
            at += bytes_left == 0
        else:
            end = at + len(token.removeprefix(BEGIN))
            spans.append((at, end))
            at = end
    return spans
