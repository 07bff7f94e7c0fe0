"""Parses and writes the roles (such as "thing") that visitors give to words missing from a dictionary, as parts of a
link.
"""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from urllib.parse import quote, unquote

from attention_core.examples.lexica import LEXICA
from attention_core.learned.language.reading import role_names
from attention_core.learned.language.recipes import LANGUAGES

SAFE_MARKS = "'’"  # characters of a word that are not percent-encoded


@cache
def known_roles() -> tuple[str, ...]:
    """Returns all roles that a word can get: the roles of the examples' dictionaries and the categories that
    stand for words unknown to a language model.
    """
    built = chain.from_iterable(lexicon.roles for lexicon in LEXICA.values())
    learned = chain.from_iterable(map(role_names, LANGUAGES))
    return tuple(dict.fromkeys((*built, *learned)))


def write_word_role(word: str, role: str) -> str:
    """Returns a word and its role as a part of a link; commas and colons in the word are percent-encoded.

    >>> write_word_role("pizza", "thing"), write_word_role("3:0", "other")
    ('pizza:thing', '3%3A0:other')
    """
    escaped = "".join(char if char.isalnum() else quote(char, safe=SAFE_MARKS) for char in word)
    return f"{escaped}:{role}"


def read_word_role(text: str) -> tuple[str, str]:
    """Parses a word and its role from a part of a link. Raises ValueError for an unknown role or an empty word."""
    escaped, _, role = text.rpartition(":")
    word = unquote(escaped, errors="strict")
    if not word or role not in known_roles() or write_word_role(word, role) != text:
        raise ValueError(text)
    return word, role


def read_word_roles(parts: tuple[str, ...]) -> dict[str, str]:
    """Parses texts such as "pizza:thing" into {word: role}."""
    return dict(map(read_word_role, parts))


def with_word_role(parts: tuple[str, ...], word: str, role: str | None) -> tuple[str, ...]:
    """Returns the Setup field `word_roles` with the role of one word set, replaced or removed.

    role: the new role; None removes the word.

    >>> with_word_role(("pizza:thing",), "teacher", "person")
    ('pizza:thing', 'teacher:person')
    """
    roles: Mapping[str, str | None] = {**read_word_roles(parts), word: role}
    return tuple(write_word_role(each, own) for each, own in roles.items() if own is not None)
