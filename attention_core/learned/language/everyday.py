"""Everyday words outside the vocabulary of a language model, and the word or category that the model reads instead."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from attention_core.learned.grammar.concepts import find_verb, load_nouns
from attention_core.learned.language.batches import word_numbers
from attention_core.mechanism.plain_checks import require_one_of

VOWELS = "aeiou"
MANY = {"man": "men", "woman": "women", "person": "persons", "piece-of-furniture": "pieces-of-furniture"}
ONE_OF_MANY = {"<furniture>": "<pieces-of-furniture>"}


def stand_in(language: str, word: str) -> str | None:
    """Return the token that a model reads for an everyday word outside its vocabulary; None for an unlisted word.

    The token is of the same kind, and often means nearly the same.

    language: "en" or "zh". word: as a typed text is cut. Raises AttentionError: unknown_choice.

    >>> stand_in("en", "mom"), stand_in("en", "hamsters"), stand_in("en", "felt"), stand_in("zh", "弟弟")
    ('mother', None, 'thought', '哥哥')
    >>> stand_in("en", "homework"), stand_in("en", "exams"), stand_in("en", "zorb")
    ('<text>', '<texts>', None)
    """
    found = load_stand_ins(require_one_of("language", language, ("en", "zh"))).get(word)
    if found is None and word.isdecimal():
        return {"en": "three", "zh": "三"}[language]
    return found


@cache
def load_stand_ins(language: str) -> dict[str, str]:
    """Load word -> token, for all forms of the everyday words outside the vocabulary."""
    known = word_numbers(language)
    file = Path(__file__).parent / f"everyday_{language}.toml"
    found: dict[str, str] = {}
    for kind, rows in tomllib.loads(file.read_text(encoding="utf-8")).items():
        for token, words in rows.items():
            for word in words.split():
                for form, read in READERS[kind](word, token):
                    if form not in known and read in known:
                        found.setdefault(form, read)
    return found


def read_alone(word: str, token: str) -> Iterator[tuple[str, str]]:
    """Yields a word that has one form, with its token."""
    yield word, token


def read_noun(word: str, token: str) -> Iterator[tuple[str, str]]:
    """Yields a noun and its plural, with their tokens."""
    yield word, token
    yield plural_of(word), plural_token(token)


def read_verb(word: str, token: str) -> Iterator[tuple[str, str]]:
    """Yields the forms of a verb with their tokens; the category of verbs is the same for all."""
    read = [token] * 5 if token.startswith("<") else verb_forms(token)
    yield from zip(verb_forms(word), read, strict=True)


READERS = {"word": read_alone, "noun": read_noun, "verb": read_verb}


def plural_of(word: str) -> str:
    """Return the plural of a regular noun.

    >>> plural_of("exam"), plural_of("class"), plural_of("party"), plural_of("postman")
    ('exams', 'classes', 'parties', 'postmen')
    """
    if word.endswith("man") and word not in ("human",):
        return f"{word[:-2]}en"
    if word.endswith("y") and word[-2] not in VOWELS:
        return f"{word[:-1]}ies"
    ending = "es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s"
    return word + ending


def plural_token(token: str) -> str:
    """Return the plural of a singular token, a noun or a category; the token itself for a noun without a plural."""
    if token.startswith("<"):
        kind = token.strip("<>")
        return ONE_OF_MANY.get(token) or f"<{MANY.get(kind) or plural_of(kind)}>"
    noun = load_nouns().get(token)
    return noun.plural if noun and noun.plural else token


def verb_forms(base: str) -> tuple[str, ...]:
    """Return the base, third person, past, participle and -ing form of a verb."""
    return tuple(find_verb(base))
