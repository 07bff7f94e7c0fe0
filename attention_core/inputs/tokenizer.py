"""Text in: words and characters as tokens, tokens back as text, and a vector for a word that no dictionary has."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import regex

from attention_core.mechanism.config import require_positive, require_whole
from attention_core.record.errors import AttentionError

MAX_TOKENS = 512  # 512 x 512 pairs are a canvas of one pixel a cell
MAX_TEXT_LENGTH = 10_000  # characters: 64 tokens of 40 and whatever parts them
MAX_TOKEN_LENGTH = 40  # characters (code points)
MAX_VECTOR_WIDTH = 512  # numbers in a word's vector

TOKEN_SEPARATOR = "|"
CONNECTORS = frozenset("'’-‐‑_·׳״־")  # between two letters they belong to the word: don't, well-known
DECIMAL_MARKS = frozenset(".,٫٬")  # between two digits they belong to the number: 3.14
ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER = "\u200d", "\u200c"

SPACE_OR_NOT = re.compile(r"\s|\S+")
# A character as Unicode counts them (UAX 29), and the marks and invisible format characters that Unicode leaves alone
# after it: they would be tokens of their own. A sign that prepends itself, as of Arabic numbers, begins the next.
CLUSTER = regex.compile(r"\X[\p{M}\p{Cf}--\p{Grapheme_Cluster_Break=Prepend}]*", regex.VERSION1)

# Written without spaces, a character a token: jamo, radicals, iteration marks, kana to bopomofo, ideographs, Hangul,
# half-width kana and jamo, kana supplements, the later planes of ideographs.
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
# Scripts in which a zero-width joiner or non-joiner is ordinary spelling: Arabic to Burmese, Khmer, Mongolian.
JOINING_RANGES = ((0x0600, 0x109F), (0x1780, 0x18AF))
# Letters and marks by their category that print nothing (Unicode: Default_Ignorable_Code_Point).
BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")


def tokenise(text: str, words: Collection[str] = ()) -> tuple[str, ...]:
    """The tokens of a text: words and punctuation, Chinese, Japanese and Korean by character.

    text: what the reader typed. With at least one "|" in it the tokens are exactly what lies between the bars.
    words: a dictionary's words; neighbours that spell one of them become one token, the longest word first.
    Nothing is normalised: a token is what was typed, with its marks and joiners.

    Raises AttentionError: text_too_long (10,000 characters), no_tokens, too_many_tokens (512), token_too_long (40
    characters).

    >>> tokenise("Anna didn't feed the dog.")
    ('Anna', "didn't", 'feed', 'the', 'dog', '.')
    >>> tokenise("它摇尾巴"), tokenise("它摇尾巴", words={"摇尾巴"})
    (('它', '摇', '尾', '巴'), ('它', '摇尾巴'))
    >>> tokenise("<s>|New York")
    ('<s>', 'New York')
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise AttentionError("text_too_long", limit=MAX_TEXT_LENGTH, given=len(text))
    return check_token_limits(split_tokens(text, words))


def join_tokens(tokens: Sequence[str], words: Collection[str] = ()) -> str:
    """The text that `tokenise` turns back into exactly these tokens: with spaces where that works, or without where
    nobody would write any, as in Chinese; else with bars.

    tokens: not empty, without "|" and without spaces around them. words: what tokenise will be given.

    Raises AttentionError: token_form for a token that no text can hold, and what tokenise refuses.

    >>> join_tokens(["Anna", "fed", "the", "dog", "."])
    'Anna fed the dog .'
    >>> join_tokens(["<s>", "New York"])
    '<s>|New York'
    >>> join_tokens(["小红", "笑了"]), join_tokens(["小红", "笑了"], words={"小红", "笑了"})
    ('小红|笑了', '小红笑了')
    """
    tokens = check_token_limits(tuple(tokens))
    for token in tokens:
        if not token or token != token.strip() or TOKEN_SEPARATOR in token:
            raise AttentionError("token_form", given=printable_token(token))
    together = "" if any(token.isascii() for token in tokens) else "".join(tokens)
    for text in (together, " ".join(tokens)):
        if split_tokens(text, words) == tokens:
            return text
    return TOKEN_SEPARATOR.join(tokens) if len(tokens) > 1 else tokens[0] + TOKEN_SEPARATOR


@lru_cache(maxsize=1024)  # a picture asks for the same few words hundreds of times
def printable_token(token: str) -> str:
    """The token as it can be printed safely: what would be invisible or turn the line around is written out.

    Control, format (zero-width, bidirectional), surrogate and blank characters become ⟨U+....⟩. A joiner that does its
    work, inside an emoji or between the letters of a script that needs it, stays. HTML is the screen's business.

    >>> printable_token("tab\\tand\\u202etail"), printable_token("dog"), printable_token("👩\\u200d🚀") == "👩\\u200d🚀"
    ('tab⟨U+0009⟩and⟨U+202E⟩tail', 'dog', True)
    """
    return "".join(f"⟨U+{ord(char):04X}⟩" if is_hidden(token, at) else char for at, char in enumerate(token))


def word_vector(word: str, width: int, seed: int = 0) -> tuple[float, ...]:
    """A random vector for a word: the same word and seed the same numbers on any machine and any library version.

    word: any text; spellings that Unicode calls the same (NFC) are the same word. width: how many numbers, 1 to 512;
    a narrower vector is the beginning of a wider one. seed: a whole number.

    Each number is the sum of 12 bytes of BLAKE2b, less its mean 1530, over 256: mean 0, variance 65535/65536, nearly
    normal (Irwin-Hall), rounded to two decimals. The arithmetic is in whole numbers up to the last division.

    Raises AttentionError: positive_integer, whole_number, at_most.

    >>> word_vector("dog", 4)
    (0.29, -0.14, 0.96, -1.21)
    """
    if require_positive("width", width) > MAX_VECTOR_WIDTH:
        raise AttentionError("at_most", name="width", limit=MAX_VECTOR_WIDTH, given=width)
    spelling = unicodedata.normalize("NFC", word)
    # a lone surrogate is a character like any other here: "surrogatepass"
    texts = [f"{require_whole('seed', seed)}:{block}:{spelling}" for block in range(-(-width // 5))]
    blocks = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=60).digest() for text in texts]
    drawn = np.frombuffer(b"".join(blocks), np.uint8)  # 60 bytes a block: five numbers
    sums = drawn.reshape(-1, 12).sum(axis=1, dtype=np.int64)  # (numbers, 12) -> (numbers,)
    hundredths = (25 * (sums - 1530) + 32) // 64  # 100/256, halves rounded up
    return tuple((hundredths[:width] / 100).tolist())


# ---- cutting a text --------------------------------------------------------------------------------------------------
def split_tokens(text: str, words: Collection[str]) -> tuple[str, ...]:
    """The tokens of a text, however many and however long."""
    if TOKEN_SEPARATOR in text:
        return tuple(token for piece in text.split(TOKEN_SEPARATOR) if (token := piece.strip()))
    return merge_words(text, token_spans(text), words)


def check_token_limits(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens, if there are some, not too many, and none too long."""
    if not tokens:
        raise AttentionError("no_tokens")
    if len(tokens) > MAX_TOKENS:
        raise AttentionError("too_many_tokens", given=len(tokens), limit=MAX_TOKENS)
    for token in tokens:
        if len(token) > MAX_TOKEN_LENGTH:
            raise AttentionError(
                "token_too_long", token=printable_token(token[:20]) + "…", given=len(token), limit=MAX_TOKEN_LENGTH
            )
    return tokens


def token_spans(text: str) -> list[tuple[int, int]]:
    """Where each token begins and ends, no dictionary asked."""
    parts = [part for part in character_spans(text) if not text[part[0]].isspace()]
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(parts):
        last = end_of_word(text, parts, at)
        found.append((parts[at][0], parts[last][1]))
        at = last + 1
    return found


def character_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each character begins and ends, with all that belongs to it: accents, joiners, the parts of an emoji."""
    for piece in SPACE_OR_NOT.finditer(text):
        for cluster in CLUSTER.finditer(text, *piece.span()):
            yield cluster.span()


def end_of_word(text: str, parts: list[tuple[int, int]], at: int) -> int:
    """The index of the last part of the word that begins with part `at`; `at` itself where no word begins."""
    if not is_letter(text[parts[at][0]]):
        return at
    while at + 1 < len(parts) and parts[at][1] == parts[at + 1][0]:  # a space between parts ends the word
        if is_letter(text[parts[at + 1][0]]):
            at += 1
        elif at + 2 < len(parts) and connects_parts(text, *parts[at : at + 3]):
            at += 2
        else:
            break
    return at


def connects_parts(text: str, before: tuple[int, int], sign: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether a sign stands inside a word or number: an apostrophe, a hyphen, a decimal point."""
    mark, next_char = text[slice(*sign)], text[after[0]]
    if sign[1] != after[0] or not is_letter(next_char):
        return False
    return mark in CONNECTORS or (mark in DECIMAL_MARKS and text[before[0]].isdigit() and next_char.isdigit())


def merge_words(text: str, spans: list[tuple[int, int]], words: Collection[str]) -> tuple[str, ...]:
    """The tokens, with neighbours that spell a dictionary's word made one. Only whole tokens are put together."""
    known = frozenset(words)
    longest = min(max(map(len, known), default=0), MAX_TOKEN_LENGTH)
    tokens: list[str] = []
    at = 0
    while at < len(spans):
        first, last = spans[at][0], at
        reach = at + 1
        while reach < len(spans) and spans[reach][1] - first <= longest:
            if text[first : spans[reach][1]] in known:
                last = reach
            reach += 1
        tokens.append(text[first : spans[last][1]])
        at = last + 1
    return tuple(tokens)


# ---- kinds of characters ---------------------------------------------------------------------------------------------
def is_in_ranges(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    """Whether a character's number lies in one of the ranges."""
    return any(first <= ord(char) <= last for first, last in ranges)


def is_mark(char: str) -> bool:
    """Accents, vowel signs, variation selectors (M), and invisible format characters (Cf): never a token of their own
    after another character.
    """
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")


def is_letter(char: str) -> bool:
    """What makes words: letters and digits of the scripts that are written with spaces. A mark without a letter before
    it goes with the word that follows.
    """
    return (char.isalnum() or is_mark(char)) and not is_in_ranges(char, CHARACTER_RANGES)


def is_hidden(token: str, at: int) -> bool:
    """Whether the character at `at` prints nothing, or changes how its neighbours are printed."""
    char = token[at]
    if char in (ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER) and 0 < at < len(token) - 1:
        return not (is_joinable(token[at - 1]) and is_joinable(token[at + 1]))
    return char in BLANK_LETTERS or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def is_joinable(char: str) -> bool:
    """Emoji and their parts (So, Sk, Sm, the emoji selector), and letters whose spelling needs joiners."""
    return unicodedata.category(char) in ("So", "Sk", "Sm") or char == "\ufe0f" or is_in_ranges(char, JOINING_RANGES)
