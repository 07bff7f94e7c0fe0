"""The entries of an uploaded file that are not read: each by name, with the reason."""

from collections.abc import Iterable

from attention_core.record.errors import AttentionError
from pages.site.words import escape_markdown, has, label_arrays, say

MAX_NAMED = 12  # entries listed by name; the others are only counted

Unread = tuple[str, tuple[int, ...] | AttentionError | None]  # name, and: shape of an array, error, or None for a text


def name_array(name: str, shape: tuple[int, ...]) -> str:
    """An array's name in Markdown, with its shape; without a shape for a single number."""
    shown = f"**{escape_markdown(label_arrays([name])[name])}**"
    return f"{shown} ({', '.join(map(str, shape))})" if shape else shown


def say_unread(unread: Iterable[Unread]) -> str:
    """Sentence that lists the unread entries of a file; "" if all are read."""
    left = list(unread)
    if not left:
        return ""
    listed = say("fact.comma").join(say_one(name, what) for name, what in left[:MAX_NAMED])
    if len(left) > MAX_NAMED:
        return say("brought.not_read_more", names=listed, count=len(left) - MAX_NAMED)
    return say("brought.not_read", names=listed)


def say_one(name: str, what: tuple[int, ...] | AttentionError | None) -> str:
    """Text about one unread entry: its name with its shape, or with the error."""
    if isinstance(what, tuple):
        return name_array(name, what)
    key = "text" if what is None else what.code
    reason = say(f"unread.{key}") if has(f"unread.{key}") else say("unread.form")
    return say("brought.unread_one", name=name_array(name, ()), reason=reason)
