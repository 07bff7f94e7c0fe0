"""English meanings of Chinese words, for visitors who cannot read the output of a translator."""

from collections.abc import Iterable
from functools import cache

from attention_core.learned.grammar.concepts import load_names, load_nouns, load_qualities, read_data
from attention_core.learned.grammar.templates import VERB
from attention_core.learned.grammar.vocabulary import events_with_forms

MEASURE_WORD = "measure word"
BEFORE_MEASURES = {"一": "one, a", "那": "that", "这": "this"}


def gloss_words(words: Iterable[str]) -> dict[str, str]:
    """Returns Chinese word -> English meaning for those of the given words that have one.

    >>> gloss_words(["<start>", "猫", "累", "猫"])
    {'猫': 'cat', '累': 'tired'}
    >>> gloss_words(["一只"])
    {'一只': 'one, a'}
    """
    glosses = load_glosses()
    return {word: glosses[word] for word in words if word in glosses}


@cache
def load_glosses() -> dict[str, str]:
    """Returns Chinese word -> English meaning, from the grammar's words and, for particles, from a data file."""
    glosses = dict(read_data("glosses")["words"])
    for quality in load_qualities().values():
        glosses.setdefault(quality.chinese, quality.word.partition("_")[0])
    for name in load_names().values():
        glosses.setdefault(name.chinese, name.word.capitalize())
    for noun in load_nouns().values():
        glosses.setdefault(noun.chinese, noun.word)
    for event, _ in events_with_forms():
        english = [payload.base for code, payload in event.english if code == VERB]
        chinese = [payload[0] for code, payload in event.chinese if code == VERB]
        if len(english) == len(chinese) == 1:
            glosses.setdefault(chinese[0], english[0])
    for noun in load_nouns().values():
        if noun.measure:
            glosses.setdefault(noun.measure, MEASURE_WORD)
            for word, meaning in BEFORE_MEASURES.items():  # some examples join the word and its measure word
                glosses.setdefault(word + noun.measure, meaning)
    return glosses
