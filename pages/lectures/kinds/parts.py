"""Parses the parts that all kinds of scenes have in their JSON, and defines the exception for an invalid part."""

from collections.abc import Mapping

UnreadPart = tuple[str, str]  # the key and the first characters of a value that could not be read
MAX_UNREAD_CHARS = 40  # most characters of an unreadable value that a message quotes


class UnfitPart(Exception):
    """Raised if a part of a scene (slide of a lecture) in a file has a wrong type or value.

    The argument is the name of the part.
    """


def read_texts(parts: Mapping[str, object], name: str) -> dict[str, str]:
    """Returns the JSON object of strings in the named part of a scene (slide of a lecture); {} if the part is missing.

    Raises UnfitPart for any other value.

    >>> read_texts({"setup": {"t": "5"}}, "setup")
    {'t': '5'}
    """
    value = parts.get(name, {})
    is_object = isinstance(value, dict)
    if not is_object or not all(isinstance(text, str) for text in value.values()):
        raise UnfitPart(name)
    return value


def read_text(parts: Mapping[str, object], name: str, limit: int) -> str:
    """Returns the string in the named part of a scene (slide of a lecture); "" if the part is missing.

    Raises UnfitPart for any other value, and for a string longer than the limit.

    >>> read_text({"text": "Hello"}, "text", limit=5)
    'Hello'
    """
    value = parts.get(name, "")
    if not isinstance(value, str) or len(value) > limit:
        raise UnfitPart(name)
    return value
