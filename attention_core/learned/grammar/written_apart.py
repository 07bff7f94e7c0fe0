"""Chinese words that the grammar writes separately and a word list joins: 喝 水, 下 雨, 一 只, 床 上."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from attention_core.learned.grammar.concepts import load_names, load_nouns
from attention_core.learned.grammar.templates import TELLING, VERB, WORD
from attention_core.learned.grammar.vocabulary import events_with_forms, known_words

BEFORE_MEASURES = frozenset("一两三这那每上下")  # numbers and demonstratives
ADVERBS = frozenset("不没很太")
PLACES = frozenset("上里")  # after a noun: places
RESULTS = frozenset("住湿")  # after a verb: results
JOINED = frozenset({"马上"})  # 马上 means "at once" here, never "on a horse"


def writes_apart(parts: Sequence[str]) -> bool:
    """Return whether the grammar may write these words next to each other, such as a verb and its noun, or 一 只.

    parts: words of the grammar that together spell a word of the list.

    >>> writes_apart(("喝", "水")), writes_apart(("那", "个")), writes_apart(("软", "件")), writes_apart(("头", "发"))
    (True, True, False, False)
    """
    if "".join(parts) in JOINED:
        return False
    if "".join(parts) in phrases_of_templates() or parts[0] in ADVERBS:
        return True
    return all(stand_apart(*pair) for pair in pairwise(parts))


def stand_apart(first: str, second: str) -> bool:
    """Return whether a word may precede another in a sentence of the grammar, judged by their kinds."""
    if first in BEFORE_MEASURES:
        return second in measure_words()
    if second in nouns():
        return first in measure_words() or first in verbs()
    if first in verbs():
        return second in RESULTS
    return first in nouns() and (second in PLACES or second in verbs())


@cache
def phrases_of_templates() -> frozenset[str]:
    """Return the strings that two or three fixed words of the grammar's events spell together."""
    found = set()
    for event, _ in events_with_forms():
        for template in (event.chinese, event.denial):
            words = list(fixed_words(template))
            pairs = list(pairwise(words))
            triples = [(first, *pair) for first, pair in zip(words, pairs[1:], strict=False)]
            found |= {"".join(run) for run in (*pairs, *triples) if all(run)}
    return frozenset(found)


def fixed_words(template: Sequence[tuple[object, object]]) -> Iterator[str]:
    """Yield the fixed words of an event's template in order, and "" for every other step."""
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
