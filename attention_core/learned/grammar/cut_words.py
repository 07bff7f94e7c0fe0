"""Splits typed text into the words of a vocabulary."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from attention_core.learned.grammar.chinese_cut import HAN_RUN, cut_chinese, is_parted_by_hand
from attention_core.learned.grammar.concepts import load_names, load_nouns
from attention_core.learned.grammar.templates import TELLING, VERB, WORD
from attention_core.learned.grammar.vocabulary import events_with_forms, known_words
from attention_core.mechanism.plain_checks import require_one_of

ENGLISH_TOKEN = re.compile(r"'s\b|[^\W\d_]+(?:-[^\W\d_]+)*|\d+|[^\w\s]")
CHINESE_TOKEN = re.compile(r"[a-z]+|\d+|\S")  # the token at a position where no word of the vocabulary begins
CONTRACTIONS = (  # contraction as typed -> the words that replace it
    (re.compile(r"[’ʼ`]"), "'"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"\b(i|you|he|she|we|they)'d\b"), r"\1 would"),
    (re.compile(r"\b(he|she|it|that|there|what|who|where|how)'s\b"), r"\1 is"),
    (re.compile(r"\blet's\b"), "let us"),
)
BAR = "|"  # separates words that the user split by hand
CHINESE_PUNCTUATION = str.maketrans(",.?!:;", "，。？！：；")


def cut_words(text: str, language: str, words: Collection[str] | None = None) -> tuple[str, ...]:
    """Split typed text into words in the grammar's spelling.

    English becomes lower case, "didn't" becomes did not, and each punctuation mark is a word. Chinese: into `words` if
    they spell all the text between two punctuation marks, else by the library's word list; English punctuation becomes
    Chinese. Words that the user separated by bars or spaces stay separate.

    text: any text. language: "en" or "zh". words: the words into which Chinese is split; None for the grammar's words.

    Raises AttentionError: unknown_choice.

    >>> cut_words("The dog didn't eat.", "en")
    ('the', 'dog', 'did', 'not', 'eat', '.')
    >>> cut_words("公共汽车很慢。", "zh"), cut_words("公共汽车", "zh", words={"公共", "汽车"})
    (('公共汽车', '很', '慢', '。'), ('公共', '汽车'))
    >>> cut_words("南京市长江大桥很长", "zh"), cut_words("南京 市长 江大桥", "zh")
    (('南京市', '长江大桥', '很', '长'), ('南京', '市长', '江大桥'))
    """
    require_one_of("language", language, ("en", "zh"))
    text = text.lower()
    if language == "zh":
        return cut_chinese_text(text, words)
    for typed, meant in CONTRACTIONS:
        text = typed.sub(meant, text)
    return tuple(ENGLISH_TOKEN.findall(text))


def cut_chinese_text(text: str, words: Collection[str] | None) -> tuple[str, ...]:
    """Split a text of Chinese and other characters, in lower case, into words; a text with bars is split only there.

    words: the words to prefer; None for the grammar's words.
    """
    text = text.translate(CHINESE_PUNCTUATION)
    if BAR in text:
        pieces = [piece.strip() for piece in text.split(BAR)]
        return tuple(piece for piece in pieces if piece)
    own = known_words("zh") if words is None else frozenset(words)
    is_whole = is_parted_by_hand(text)
    found: list[str] = []
    at = 0
    for run in HAN_RUN.finditer(text):
        found += match_longest(text[at : run.start()], own)
        if is_whole:
            found.append(run.group())
        else:
            found += cut_for_grammar(run.group()) if words is None else cut_chinese(run.group(), own)
        at = run.end()
    return (*found, *match_longest(text[at:], own))


def cut_for_grammar(run: str) -> tuple[str, ...]:
    """Split adjacent Chinese characters into words of the grammar where possible, else into words of the library's
    list.
    """
    return cut_chinese(run, known_words("zh"), writes_apart)


def match_longest(text: str, words: frozenset[str]) -> tuple[str, ...]:
    """Split a text from left to right into the longest of `words`; elsewhere into tokens that match CHINESE_TOKEN."""
    text = text.translate(CHINESE_PUNCTUATION)
    longest = longest_word(words)
    found = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        ends = range(min(len(text), at + longest), at, -1)
        end = next((end for end in ends if text[at:end] in words), None)
        if end is None:
            end = CHINESE_TOKEN.match(text, at).end()
        found.append(text[at:end])
        at = end
    return tuple(found)


@lru_cache(maxsize=8)
def longest_word(words: frozenset[str]) -> int:
    """Return the length of the longest word; 0 without words."""
    return max(map(len, words), default=0)


# ---- words that the grammar writes separately and a Chinese word list joins: 喝 水, 下 雨, 一 只, 床 上 --------------
BEFORE_MEASURES = frozenset("一两三这那每上下")  # numbers and demonstratives, which precede measure words
ADVERBS = frozenset("不没很太")
PLACES = frozenset("上里")  # characters that turn a noun before them into a place
RESULTS = frozenset("住湿")  # characters after a verb that name the verb's result
JOINED = frozenset({"马上"})  # here 马上 always means "at once", never "on a horse"


def writes_apart(parts: Sequence[str]) -> bool:
    """Return whether the grammar may write these words side by side, such as a verb and its noun, or 一 只.

    parts: words of the grammar that together spell one word of the library's list.

    >>> writes_apart(("喝", "水")), writes_apart(("那", "个")), writes_apart(("软", "件")), writes_apart(("头", "发"))
    (True, True, False, False)
    """
    if "".join(parts) in JOINED:
        return False
    if "".join(parts) in phrases_of_templates() or parts[0] in ADVERBS:
        return True
    return all(stand_apart(*pair) for pair in pairwise(parts))


def stand_apart(first: str, second: str) -> bool:
    """Return whether the grammar writes words of these two classes next to each other."""
    if first in BEFORE_MEASURES:
        return second in measure_words()
    if second in nouns():
        return first in measure_words() or first in verbs()
    if first in verbs():
        return second in RESULTS
    return first in nouns() and (second in PLACES or second in verbs())


@cache
def phrases_of_templates() -> frozenset[str]:
    """Return the strings that two or three neighbouring fixed words of the grammar's templates spell."""
    found = set()
    for event, _ in events_with_forms():
        for template in (event.chinese, event.denial):
            words = list(fixed_words(template))
            pairs = list(pairwise(words))
            triples = [(first, *pair) for first, pair in zip(words, pairs[1:], strict=False)]
            found |= {"".join(run) for run in (*pairs, *triples) if all(run)}
    return frozenset(found)


def fixed_words(template: Sequence[tuple[object, object]]) -> Iterator[str]:
    """Yield the fixed words of an event's template in order, and "" for each step that is not a fixed word."""
    for code, payload in template:
        if code == VERB:
            yield payload[0]
        else:
            yield payload if code in (WORD, TELLING) else ""


@cache
def nouns() -> frozenset[str]:
    """Return the Chinese nouns and names."""
    return frozenset(noun.chinese for noun in (*load_nouns().values(), *load_names().values()))


@cache
def measure_words() -> frozenset[str]:
    """Return the Chinese measure words of the grammar."""
    return frozenset(noun.measure for noun in load_nouns().values()) | {"个", "位"} & known_words("zh")


@cache
def verbs() -> frozenset[str]:
    """Return the Chinese verbs of the grammar."""
    templates = [event.chinese for event, _ in events_with_forms()]
    return frozenset(payload[0] for template in templates for code, payload in template if code == VERB)
