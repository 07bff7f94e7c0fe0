"""Lists all words that the grammar may write in a language, in a fixed order, and meanings of the Chinese words."""

from collections.abc import Iterable, Iterator
from functools import cache

from attention_core.learned.grammar import chinese, english
from attention_core.learned.grammar.concepts import load_names, load_nouns, load_qualities, read_data
from attention_core.learned.grammar.events import load_deeds, load_events, load_frames, load_reasons
from attention_core.learned.grammar.function_words import DEGREES, DETERMINERS, load_phrases
from attention_core.learned.grammar.moods import BASE, DOING, MOODS, PARTICIPLE, PAST, THIRD
from attention_core.learned.grammar.page import QUALITY_CATEGORY, VERB_CATEGORY, noun_category
from attention_core.learned.grammar.scene import Event
from attention_core.learned.grammar.templates import TELLING, VERB, WORD
from attention_core.mechanism.plain_checks import require_one_of

SPECIAL_TOKENS = ("<pad>", "<start>", "<mask>", "<unknown>")
CHINESE_WORDS_OF_CODE = ["的", "了", "在", "都", "们", "吗", "什么", "谁"]  # words that no data file contains


@cache
def vocabulary(language: str) -> tuple[str, ...]:
    """Return all tokens of a language: the special tokens, the sorted categories, then the sorted words.

    language: "en" or "zh". Raises AttentionError: unknown_choice.

    >>> vocabulary("en")[:5], "dog" in vocabulary("en"), "<animals>" in vocabulary("en")
    (('<pad>', '<start>', '<mask>', '<unknown>', '<animal>'), True, True)
    """
    return (*SPECIAL_TOKENS, *categories(language), *sorted(known_words(language)))


@cache
def known_words(language: str) -> frozenset[str]:
    """Return the words of a language, without special tokens and categories.

    language: "en" or "zh". Raises AttentionError: unknown_choice.

    >>> "狗" in known_words("zh"), "<mask>" in known_words("en")
    (True, False)
    """
    require_one_of("language", language, ("en", "zh"))
    words = english_words() if language == "en" else chinese_words()
    return frozenset(words) - {"", "M"}


@cache
def categories(language: str) -> tuple[str, ...]:
    """Return the category tokens that may replace an unknown word; English also has plural categories."""
    nouns = [*load_nouns().values(), *load_names().values()]
    named = {noun_category(noun, False) for noun in nouns if noun.genders}
    if language == "en":
        named |= {noun_category(noun, True) for noun in nouns if noun.plural}
    return (*sorted(named), QUALITY_CATEGORY, VERB_CATEGORY)


def events_with_forms() -> Iterator[tuple[Event, tuple[int, ...]]]:
    """Yield every event together with the indices of the forms in which its English verb may be written."""
    told = (BASE, THIRD, PAST)
    for frame in load_frames().values():
        yield frame.event, tuple({BASE, *(mood.form for mood in frame.moods)})
    for reason in load_reasons().values():
        if isinstance(reason, Event):
            yield reason, told
    deeds = load_deeds()
    for name, event in load_events().items():  # by name: objects may differ between threads that load at once
        deed = deeds.get(name)
        is_told_only = deed is not None and not deed.is_planned
        yield event, told if is_told_only else (*told, PARTICIPLE, DOING)


def english_words() -> Iterator[str]:
    """Yield every word that the grammar may write in English; some words occur more than once."""
    for noun in (*load_nouns().values(), *load_names().values()):
        yield from (noun.word, noun.plural)
    yield from (quality.word for quality in load_qualities().values())
    for event, forms in events_with_forms():
        for code, payload in event.english:
            if code in (WORD, TELLING):
                yield payload
            elif code == VERB:
                yield from (payload[form] for form in forms)
    for mood in MOODS.values():
        yield from (*mood.auxiliary, *mood.between)
    for forms in english.PRONOUNS.values():
        yield from forms
    for section in load_phrases().values():
        for each in section.values():
            yield from each.english
    for each in (*DETERMINERS.values(), *DEGREES.values()):
        yield from each.english
    yield from ("be", "is", "was", "am", "are", "were", "an", "who", "what", "that")
    for words in english.QUESTION_WORDS.values():
        yield from words


def chinese_words() -> Iterator[str]:
    """Yield every word that the grammar may write in Chinese; some words occur more than once."""
    for noun in (*load_nouns().values(), *load_names().values()):
        yield from (noun.chinese, noun.measure)
    for quality in load_qualities().values():
        yield from (quality.chinese, *quality.predicate)
    for event, _ in events_with_forms():
        for code, payload in (*event.chinese, *event.denial):
            if code in (WORD, TELLING):
                yield payload
            elif code == VERB:
                yield payload[0]
    for mood in MOODS.values():
        yield from (*mood.before, *mood.before_state)
    yield from (*chinese.PRONOUNS.values(), *chinese.SPEAKERS.values())
    for section in load_phrases().values():
        for each in section.values():
            yield from each.chinese
    yield from (word for each in DETERMINERS.values() for word in each.chinese)
    yield from (word for each in DEGREES.values() for word in (*each.before, *each.behind))
    yield from CHINESE_WORDS_OF_CODE
    for words in chinese.QUESTION_WORDS.values():
        yield from words


# ---- English meanings of Chinese words, for visitors who cannot read the output of a translator ----------------------
MEASURE_WORD = "measure word"
BEFORE_MEASURES = {"一": "one, a", "那": "that", "这": "this"}


def gloss_words(words: Iterable[str]) -> dict[str, str]:
    """Return {Chinese word: English meaning} for those of the given words that have a meaning.

    >>> gloss_words(["<start>", "猫", "累", "猫"])
    {'猫': 'cat', '累': 'tired'}
    >>> gloss_words(["一只"])
    {'一只': 'one, a'}
    """
    glosses = load_glosses()
    return {word: glosses[word] for word in words if word in glosses}


@cache
def load_glosses() -> dict[str, str]:
    """Return {Chinese word: English meaning} for the words of the grammar and for particles."""
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
            for word, meaning in BEFORE_MEASURES.items():  # words joined to a measure word, as in some examples
                glosses.setdefault(word + noun.measure, meaning)
    return glosses
