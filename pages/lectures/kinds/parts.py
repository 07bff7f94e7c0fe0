"""What the modules of the kinds share: how a part of a scene in a file is refused."""

from collections.abc import Mapping

UnreadPart = tuple[str, str]  # a key, and the beginning of a text that nobody could read
MAX_UNREAD_CHARS = 40  # of a text that could not be read, as a sentence quotes it


class UnfitPart(Exception):
    """A part of a scene in a file is not what it has to be; its name."""


def read_texts(parts: Mapping[str, object], name: str) -> dict[str, str]:
    """An object of texts in a scene. Raises UnfitPart where the part is none.

    >>> read_texts({"setup": {"t": "5"}}, "setup")
    {'t': '5'}
    """
    value = parts.get(name, {})
    is_object = isinstance(value, dict)
    if not is_object or not all(isinstance(text, str) for text in value.values()):
        raise UnfitPart(name)
    return value


def read_text(parts: Mapping[str, object], name: str, limit: int) -> str:
    """A text of at most so many characters in a scene. Raises UnfitPart where the part is none.

    >>> read_text({"text": "Hello"}, "text", limit=5)
    'Hello'
    """
    value = parts.get(name, "")
    if not isinstance(value, str) or len(value) > limit:
        raise UnfitPart(name)
    return value
