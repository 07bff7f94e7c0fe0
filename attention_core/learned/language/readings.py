"""Other ways to write the same sentence: with commas and a full stop, with nouns as their categories."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from attention_core.learned.grammar.concepts import load_names, load_nouns
from attention_core.learned.grammar.page import noun_category
from attention_core.learned.language.answers import ENDS
from attention_core.learned.language.batches import word_numbers

FULL_STOPS = {"en": ".", "zh": "。"}
COMMAS = {"en": ",", "zh": "，"}
JOINING = {  # words that begin a clause, before which a comma may be missing
    "en": frozenset(("because", "so", "but")),
    "zh": frozenset(("因为", "所以", "但是", "可是", "因此", "然后")),
}
FIRST_JOINED = 3  # the first position, after START, at which a second clause may begin


class Reading(NamedTuple):
    """A sentence with tokens added or exchanged.

    places: for each token of the typed sentence, its position in `tokens`.
    """

    tokens: tuple[str, ...]
    places: tuple[int, ...]


def punctuate(language: str, tokens: tuple[str, ...]) -> Reading:
    """Add the missing commas and the missing full stop to a sentence: every training text has them.

    >>> punctuate("en", ("<start>", "tom", "slept", "because", "he", "was", "tired"))
    Reading(tokens=('<start>', 'tom', 'slept', ',', 'because', 'he', 'was', 'tired', '.'), places=(0, 1, 2, 4, 5, 6, 7))
    """
    read: list[str] = []
    places = []
    for at, token in enumerate(tokens):
        if at >= FIRST_JOINED and token in JOINING[language] and read[-1] not in ENDS:
            read.append(COMMAS[language])
        places.append(len(read))
        read.append(token)
    if read[-1] not in ENDS:
        read.append(FULL_STOPS[language])
    return Reading(tuple(read), tuple(places))


def other_readings(language: str, tokens: tuple[str, ...]) -> Iterator[Reading]:
    """Yield other readings with the same meaning. If an answer differs between readings, the answer is a guess."""
    punctuated = punctuate(language, tokens)
    yield punctuated
    named = category_of_nouns(language)
    yield punctuated._replace(tokens=tuple(named.get(token, token) for token in punctuated.tokens))


@cache
def category_of_nouns(language: str) -> dict[str, str]:
    """Word -> category, for each noun and first name in the vocabulary.

    >>> category_of_nouns("en")["dogs"], category_of_nouns("zh")["狗"]
    ('<animals>', '<animal>')
    """
    found = {}
    for noun in (*load_nouns().values(), *load_names().values()):
        if language == "zh":
            found[noun.chinese] = noun_category(noun, False)
            continue
        found[noun.word] = noun_category(noun, noun.is_plural_only)
        if noun.plural:
            found[noun.plural] = noun_category(noun, True)
    known = word_numbers(language)
    return {word: category for word, category in found.items() if word in known and category in known}
