"""Splits a text into tokens, joins tokens to a text, and finds or samples a vector for any word."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from attention_core.learned.grammar.chinese_cut import HAN_RUN, cut_chinese, is_parted_by_hand, longest_words
from attention_core.mechanism.plain_checks import require_one_of, require_positive, require_whole
from attention_core.record.errors import AttentionError

MAX_TOKENS = 512  # most tokens: 512 x 512 pairs fit a canvas with one pixel per cell
MAX_TEXT_LENGTH = 10_000  # most characters of a text
MAX_TOKEN_LENGTH = 40  # most characters (code points) of a token
MAX_VECTOR_WIDTH = 512  # most numbers of a word's vector
BYTES_PER_BLOCK = 60  # bytes of a hash, which give five numbers of a word's vector

TOKEN_SEPARATOR = "|"
CONNECTORS = frozenset("'’-‐‑_·׳״־")  # characters that join two parts of a word: don't, well-known
DECIMAL_MARKS = frozenset(".,٫٬")  # characters that belong to a number if digits are on both sides: 3.14
ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER = "\u200d", "\u200c"

if TYPE_CHECKING:
    import regex

NumberRow = tuple[float, ...]
NumberMatrix = tuple[NumberRow, ...]
ORIGINS = ("built", "source", "random", "learned")  # origin of a vector: by hand, from a source, sampled, trained
OTHER = "other"  # category whose vector is used if the user chooses none for an unknown word

SPACE_OR_NOT = re.compile(r"\s|\S+")
# Matches a character with its accents and invisible characters (UAX 29), and with a sign that belongs to it, before it.
CLUSTER = r"\X[\p{M}\p{Cf}--\p{Grapheme_Cluster_Break=Prepend}]*"

# Code point ranges of scripts without spaces, where each character is a token: from jamo to rare ideographs.
CHARACTER_RANGES = (
    (0x1100, 0x11FF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3040, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFFDC),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
KANA_RANGES = ((0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F))
# Code point ranges of scripts that use zero-width joiners or non-joiners, such as Arabic and Khmer.
JOINING_RANGES = ((0x0600, 0x109F), (0x1780, 0x18AF))
# Letters and marks by Unicode's categories that print nothing (Default_Ignorable_Code_Point).
BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")


def tokenise(text: str, words: Collection[str] = (), by_character: bool = False) -> tuple[str, ...]:
    """Split a text into words and punctuation, also Chinese text; Japanese and Korean are split into characters.

    text: any text. If it contains "|", the tokens are exactly the texts between the bars. Spaces between Chinese
    characters separate tokens, too: then no text between them is split, unless these texts have more than four
    characters on average, as verse. words: the words of a dictionary; neighbours that spell one of them become one
    token, the longest word first. by_character: whether Chinese is split into characters, except for these words. A
    token is not normalised: it keeps its marks and joiners as they were typed.

    Raises AttentionError: text_too_long (10,000 characters), no_tokens, too_many_tokens (512), token_too_long (40
    characters).

    >>> tokenise("Anna didn't feed the dog.")
    ('Anna', "didn't", 'feed', 'the', 'dog', '.')
    >>> tokenise("它喂了猫"), tokenise("它喂了猫", words={"喂了"}), tokenise("它喂了猫", by_character=True)
    (('它', '喂', '了', '猫'), ('它', '喂了', '猫'), ('它', '喂', '了', '猫'))
    >>> tokenise("我女朋友很好"), tokenise("我女 朋友 很好"), tokenise("<s>|New York")
    (('我', '女朋友', '很', '好'), ('我女', '朋友', '很好'), ('<s>', 'New York'))
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise AttentionError("text_too_long", limit=MAX_TEXT_LENGTH, given=len(text))
    return check_token_limits(split_tokens(text, words, by_character))


def join_tokens(tokens: Sequence[str], words: Collection[str] = (), by_character: bool = False) -> str:
    """Join tokens to a text that `tokenise` splits into exactly these tokens.

    The tokens are joined without spaces if their script has none, as in Chinese, else with spaces, or with bars if
    neither gives the same tokens.

    tokens: texts that are not empty, without "|" and without spaces around them. words: the words of a dictionary,
    which are kept whole. by_character: whether Chinese is split into characters, except for these words.

    Raises AttentionError: token_form for a token that no text can contain, and the errors of tokenise.

    >>> join_tokens(["Anna", "fed", "the", "dog", "."])
    'Anna fed the dog .'
    >>> join_tokens(["<s>", "New York"])
    '<s>|New York'
    >>> join_tokens(["南京市", "长江大桥"]), join_tokens(["南京", "市长", "江大桥", "，"])
    ('南京市长江大桥', '南京 市长 江大桥，')
    """
    tokens = check_token_limits(tuple(tokens))
    for token in tokens:
        if not token or token != token.strip() or TOKEN_SEPARATOR in token:
            raise AttentionError("token_form", given=printable_token(token))
    return write_tokens(tokens, lambda text: split_tokens(text, words, by_character))


def write_tokens(tokens: Sequence[str], cut: Callable[[str], tuple[str, ...]]) -> str:
    """Write tokens as a text that `cut` splits into them again: without spaces, with spaces, or else with bars.

    cut: a function that splits a text into tokens; its AttentionError is not caught.
    """
    tokens = tuple(tokens)
    if not tokens:
        raise AttentionError("no_tokens")
    for stands_beside in (is_wide_joint, is_joint_at_mark, lambda *_: False):
        text = tokens[0]
        for left, right in pairwise(tokens):
            text += right if stands_beside(left, right) else f" {right}"
        if cut(text) == tokens:
            return text
    return tokens[0] + TOKEN_SEPARATOR if len(tokens) == 1 else TOKEN_SEPARATOR.join(tokens)


@lru_cache(maxsize=1024)  # cached, because a picture draws the same few words hundreds of times
def printable_token(token: str) -> str:
    """Replace the characters of a token that would be invisible or would reverse the line.

    Control, format (zero-width, bidirectional), surrogate and blank characters become ⟨U+....⟩. A joiner inside an
    emoji, or between the letters of a script that needs it, stays. Characters with a meaning in HTML are not escaped.

    >>> printable_token("tab\\tand\\u202etail"), printable_token("dog"), printable_token("👩\\u200d🚀") == "👩\\u200d🚀"
    ('tab⟨U+0009⟩and⟨U+202E⟩tail', 'dog', True)
    """
    printed = []
    for at, char in enumerate(token):
        printed.append(f"⟨U+{ord(char):04X}⟩" if is_hidden(token, at) else char)
    return "".join(printed)


def word_vector(word: str, width: int, seed: int = 0) -> tuple[float, ...]:
    """Sample a random vector for a word, the same for a word and a seed on any machine and with any library version.

    word: any text; spellings that Unicode considers the same (NFC) are the same word. width: the count of numbers, 1 to
    512; a narrower vector is the beginning of a wider one. seed: a whole number.

    Each number is the sum of 12 bytes of BLAKE2b, minus its mean 1530, over 256: mean 0, variance 65535/65536, nearly
    normal (Irwin-Hall), rounded to two decimals. The arithmetic is in whole numbers up to the last division.

    Raises AttentionError: positive_integer, whole_number, at_most.

    >>> word_vector("dog", 4)
    (0.29, -0.14, 0.96, -1.21)
    """
    if require_positive("width", width) > MAX_VECTOR_WIDTH:
        raise AttentionError(
            "at_most",
            name="width",
            limit=MAX_VECTOR_WIDTH,
            given=width,
        )
    seed = require_whole("seed", seed)
    spelling = unicodedata.normalize("NFC", word)
    drawn = bytearray()
    while len(drawn) < 12 * width:
        block = len(drawn) // BYTES_PER_BLOCK
        text = f"{seed}:{block}:{spelling}".encode("utf-8", "surrogatepass")  # also a lone surrogate
        drawn += blake2b(text, digest_size=BYTES_PER_BLOCK).digest()
    dozens = np.frombuffer(drawn, np.uint8).reshape(-1, 12)  # (numbers, 12): 12 bytes per number
    sums = dozens.sum(axis=1, dtype=np.int64)  # (numbers,)
    hundredths = (25 * (sums - 1530) + 32) // 64  # hundredths: each sum times 100/256, halves rounded up
    numbers = hundredths[:width] / 100
    return tuple(numbers.tolist())


# ---- a dictionary ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Lexicon:
    """A toy dictionary: words with vectors, and numbers for a word's position in the sentence.

    dims: the meaning of each number of a full vector, as text keys. vectors: the numbers of each word. positions: which
    numbers are appended for a word's position: for "centred" 1, p and p squared, where p is 0 in the middle of the
    sentence; for "left_out" 1, 0, 0; for None no numbers. origin: the origin of the vectors, one of ORIGINS. swaps:
    pairs (word, other word) that the app suggests, because the exchange changes the attention. roles: {category, or
    OTHER: the numbers of its words} for words that the dictionary lacks; without roles, such a word gets random
    numbers.

    Raises AttentionError: unknown_choice.

    >>> words = {"white": (1.0, 0.0), "cat": (0.0, 1.0)}
    >>> lexicon = Lexicon(("colour", "animal"), words, positions="centred")
    >>> lexicon.vectors_of(("white", "cat", "sat"))
    (((1.0, 0.0, 1, -1, 1), (0.0, 1.0, 1, 0, 0), (-0.64, -1.59, 1, 1, 1)), ('built', 'built', 'random'))
    >>> lexicon = Lexicon(("colour", "animal"), words, roles={"animal": (0.0, 1.0), OTHER: (0.0, 0.0)})
    >>> lexicon.vectors_of(("fox", "sat"), chosen={"fox": "animal"})
    (((0.0, 1.0), (0.0, 0.0)), ('role', 'role'))
    """

    dims: tuple[str, ...]
    vectors: Mapping[str, NumberRow]
    positions: str | None = None
    origin: str = "built"
    swaps: tuple[tuple[str, str], ...] = ()
    roles: Mapping[str, NumberRow] = field(default_factory=dict)

    def __post_init__(self):
        require_one_of("positions", self.positions or "none", ("none", "centred", "left_out"))
        require_one_of("origin", self.origin, ORIGINS)

    @property
    def unknown(self) -> str:
        """How a word outside the dictionary gets its vector: from its "category" (such as animal), as "zeros", or as
        "random" numbers.

        >>> words = {"cat": (0.0, 1.0)}
        >>> Lexicon(("x", "y"), words).unknown, Lexicon(("x", "y"), words, roles={OTHER: (0.0, 0.0)}).unknown
        ('random', 'zeros')
        """
        if not self.roles:
            return "random"
        is_zero = not any(self.roles[OTHER])
        return "zeros" if is_zero and len(self.roles) == 1 else "category"

    def find(self, word: str) -> NumberRow | None:
        """Return the vector of a word in this spelling, or in one that differs only in capitals; None if the dictionary
        lacks it.
        """
        if word in self.vectors:
            return self.vectors[word]
        folded = word.casefold()
        for known, row in self.vectors.items():
            if known.casefold() == folded:
                return row
        return None

    def role_of(self, word: str, chosen: Mapping[str, str]) -> str:
        """Return the category (role) of a word that the dictionary lacks: the category chosen by the user, else OTHER.

        chosen: {word in any capitals: its category}.
        """
        folded = word.casefold()
        for known, role in chosen.items():
            if known.casefold() == folded and role in self.roles:
                return role
        return OTHER

    def vectors_of(
        self, tokens: Sequence[str], seed: int = 0, chosen: Mapping[str, str] | None = None
    ) -> tuple[NumberMatrix, tuple[str, ...]]:
        """Return a vector for each token and its origin: from the dictionary, from its category (role), or random.

        All vectors include the position. chosen: {word that the dictionary lacks: the category that the user chose}.
        """
        rows = []
        origins = []
        for i, token in enumerate(tokens):
            row, origin = self.own_numbers(token, seed, chosen or {})
            position = self.place(i, len(tokens))
            rows.append((*row, *position))
            origins.append(origin)
        return tuple(rows), tuple(origins)

    def own_numbers(self, token: str, seed: int, chosen: Mapping[str, str]) -> tuple[NumberRow, str]:
        """Return a token's numbers, without the numbers for its position, and their origin.

        Raises AttentionError: no_vectors.
        """
        row = self.find(token)
        if row is not None:
            return row, self.origin
        if self.roles:
            return self.roles[self.role_of(token, chosen)], "role"
        if not self.vectors:
            raise AttentionError("no_vectors", token=token)
        first_row = next(iter(self.vectors.values()))
        return word_vector(token, len(first_row), seed), "random"

    def place(self, i: int, n: int) -> NumberRow:
        """Return the numbers that encode position i of n, which are appended to a word's vector."""
        if not self.positions:
            return ()
        middle = (n - 1) // 2
        p = 0 if self.positions == "left_out" else i - middle
        return (1, p, p * p)


# ---- splitting a text ------------------------------------------------------------------------------------------------
def split_tokens(text: str, words: Collection[str], by_character: bool = False) -> tuple[str, ...]:
    """Split a text into tokens without checking their number and length."""
    if TOKEN_SEPARATOR not in text:
        spans = token_spans(text)
        return merge_words(text, spans, words, by_character)
    pieces = [piece.strip() for piece in text.split(TOKEN_SEPARATOR)]
    return tuple(piece for piece in pieces if piece)


def check_token_limits(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tokens unchanged. Raises AttentionError if there are none, too many, or one is too long."""
    if not tokens:
        raise AttentionError("no_tokens")
    if len(tokens) > MAX_TOKENS:
        raise AttentionError("too_many_tokens", given=len(tokens), limit=MAX_TOKENS)
    for token in tokens:
        if len(token) > MAX_TOKEN_LENGTH:
            excerpt = printable_token(token[:20]) + "…"
            raise AttentionError(
                "token_too_long",
                token=excerpt,
                given=len(token),
                limit=MAX_TOKEN_LENGTH,
            )
    return tokens


def token_spans(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of each token of a text, before words of several tokens are joined."""
    parts = []
    for start, end in character_spans(text):
        if not text[start].isspace():
            parts.append((start, end))
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(parts):
        last = end_of_word(text, parts, at)
        spans.append((parts[at][0], parts[last][1]))
        at = last + 1
    return spans


def character_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each character, including its accents, joiners, and the parts of an emoji."""
    for piece in SPACE_OR_NOT.finditer(text):
        for cluster in cluster_pattern().finditer(text, *piece.span()):
            yield cluster.span()


@cache
def cluster_pattern() -> "regex.Pattern":
    """Return CLUSTER, compiled."""
    import regex  # imported here, as a notebook that shows a Trace does without it

    return regex.compile(CLUSTER, regex.VERSION1)


def end_of_word(text: str, parts: list[tuple[int, int]], at: int) -> int:
    """Return the index of the last character of the word that begins at index `at`; `at` itself if no word begins
    there.

    parts: the start and end of each character. at: an index in `parts`.
    """
    if not is_letter(text[parts[at][0]]):
        return at
    while touches_next(parts, at):
        start, _ = parts[at + 1]
        if is_letter(text[start]):
            at += 1
        elif touches_next(parts, at + 1) and connects_parts(text, *parts[at : at + 3]):
            at += 2
        else:
            break
    return at


def touches_next(parts: list[tuple[int, int]], at: int) -> bool:
    """Return whether another character follows the character at index `at` without a space between them.

    parts: the start and end of each character.
    """
    if at + 1 == len(parts):
        return False
    _, end = parts[at]
    start, _ = parts[at + 1]
    return end == start


def connects_parts(text: str, before: tuple[int, int], sign: tuple[int, int], after: tuple[int, int]) -> bool:
    """Return whether a character joins its neighbours to one word, as an apostrophe, a hyphen or a decimal point does.

    before, sign, after: the start and end of the left neighbour, the character, and the right neighbour.
    """
    mark = text[sign[0] : sign[1]]
    previous_char = text[before[0]]
    next_char = text[after[0]]
    if not is_letter(next_char):
        return False
    if mark in CONNECTORS:
        return True
    return mark in DECIMAL_MARKS and previous_char.isdigit() and next_char.isdigit()


def merge_words(
    text: str, spans: list[tuple[int, int]], words: Collection[str], by_character: bool = False
) -> tuple[str, ...]:
    """Return the tokens of a text, after joining neighbours that spell a word of the dictionary or a Chinese word.

    spans: the start and end of each token before they are joined.
    """
    known = frozenset(words)
    longest = max((len(word) for word in known), default=0)
    longest = min(longest, MAX_TOKEN_LENGTH)
    cut = chinese_cutter(text, known, by_character)
    tokens: list[str] = []
    at = 0
    while at < len(spans):
        run = run_of_ideographs(text, spans, at)
        if run:
            tokens += cut(run)
            at += len(run)
            continue
        start, end = spans[at]
        last = at
        for reach in range(at + 1, len(spans)):
            far_end = spans[reach][1]
            if far_end - start > longest:
                break
            if text[start:far_end] in known:
                last, end = reach, far_end
        tokens.append(text[start:end])
        at = last + 1
    return tuple(tokens)


def chinese_cutter(text: str, words: frozenset[str], by_character: bool) -> Callable[[str], Sequence[str]]:
    """Return the function that splits a sequence of Chinese characters of this text into words."""
    if by_character or is_japanese(text):
        return lambda run: longest_words(run, words)
    if is_parted_by_hand(text):
        return lambda run: (run,)
    return lambda run: cut_chinese(run, words)


def is_japanese(text: str) -> bool:
    """Return whether a text has kana, which means that its ideographs are Japanese and not Chinese."""
    return any(is_in_ranges(char, KANA_RANGES) for char in text)


def is_cut_by_list(text: str) -> bool:
    """Return whether a word list is used to split a text: True for a Chinese text without spaces or bars.

    >>> is_cut_by_list("它很热"), is_cut_by_list("它 很 热"), is_cut_by_list("它|很|热"), is_cut_by_list("it is hot")
    (True, False, False, False)
    """
    if HAN_RUN.search(text) is None or TOKEN_SEPARATOR in text:
        return False
    return not (is_japanese(text) or is_parted_by_hand(text))


def run_of_ideographs(text: str, spans: list[tuple[int, int]], at: int) -> str:
    """Return the ideographs that follow without a space from index `at` on; "" if there is none at `at`.

    spans: the start and end of each character. at: the index of the first span.
    """
    last = at
    while last < len(spans) and is_ideograph(text[slice(*spans[last])]):
        last += 1
        if last < len(spans) and spans[last][0] != spans[last - 1][1]:
            break
    return text[spans[at][0] : spans[last - 1][1]] if last > at else ""


def is_ideograph(token: str) -> bool:
    """Return whether a token is one Chinese character without combining marks."""
    return len(token) == 1 and HAN_RUN.fullmatch(token) is not None


def is_wide_joint(left: str, right: str) -> bool:
    """Return whether two tokens of a script without spaces, such as Chinese, are written without a space: their
    touching characters are wide.
    """
    return is_wide(left[-1]) and is_wide(right[0])


def is_joint_at_mark(left: str, right: str) -> bool:
    """Return whether two tokens need no space at a punctuation mark: both touching characters are wide, and one is
    punctuation.
    """
    return is_wide_joint(left, right) and not (is_ideograph(left[-1]) and is_ideograph(right[0]))


def is_wide(char: str) -> bool:
    """Return whether a character is of a script without spaces, or one of that script's punctuation marks and
    symbols.
    """
    return not char.isascii() and not is_letter(char)


def is_written_without_spaces(text: str) -> bool:
    """Return whether a text has characters of a script without spaces, in which nothing marks the end of a word.

    >>> is_written_without_spaces("它很热"), is_written_without_spaces("it is hot")
    (True, False)
    """
    return any(is_in_ranges(char, CHARACTER_RANGES) for char in text)


# ---- kinds of characters ---------------------------------------------------------------------------------------------
def is_in_ranges(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    """Return whether the code point of a character is in one of the ranges."""
    number = ord(char)
    return any(first <= number <= last for first, last in ranges)


def is_mark(char: str) -> bool:
    """Return whether a character is always part of the token before it.

    Such a character is an accent, vowel sign or variation selector (M), or an invisible format character (Cf).
    """
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")


def is_letter(char: str) -> bool:
    """Return whether a character is part of words in a script with spaces: a letter, a digit or a mark.

    A mark without a letter before it belongs to the word after it.
    """
    if not char.isalnum() and not is_mark(char):
        return False
    return not is_in_ranges(char, CHARACTER_RANGES)


def is_hidden(token: str, at: int) -> bool:
    """Return whether the character at index `at` prints nothing, or changes how its neighbours are printed."""
    char = token[at]
    if char in (ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER):
        return not joins_neighbours(token, at)
    if char in BLANK_LETTERS:
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def joins_neighbours(token: str, at: int) -> bool:
    """Return whether the zero-width joiner or non-joiner at index `at` stands between characters that can be joined."""
    last = len(token) - 1
    if at in (0, last):
        return False
    before = token[at - 1]
    after = token[at + 1]
    return is_joinable(before) and is_joinable(after)


def is_joinable(char: str) -> bool:
    """Return whether a zero-width joiner may stand beside a character: it is part of an emoji, or its script uses
    joiners.
    """
    if char == "\ufe0f":
        return True
    if unicodedata.category(char) in ("So", "Sk", "Sm"):
        return True
    return is_in_ranges(char, JOINING_RANGES)
