"""What stands in a file that was brought and is not read: named one by one, with why."""

from collections.abc import Iterable

from attention_core.record.errors import AttentionError
from pages.site.words import escape_markdown, has, label_arrays, say

MAX_NAMED = 12  # names that are said, before how many more there are

Unread = tuple[str, tuple[int, ...] | AttentionError | None]  # a name, and the shape of an array, or why, or a text


def name_array(name: str, shape: tuple[int, ...]) -> str:
    """An array by its name and its shape; of a single number the name says all."""
    shown = f"**{escape_markdown(label_arrays([name])[name])}**"
    return f"{shown} ({', '.join(map(str, shape))})" if shape else shown


def say_unread(unread: Iterable[Unread]) -> str:
    """Everything of a file that is not read, by name; nothing where all is read."""
    left = list(unread)
    if not left:
        return ""
    listed = say("fact.comma").join(say_one(name, what) for name, what in left[:MAX_NAMED])
    if len(left) > MAX_NAMED:
        return say("brought.not_read_more", names=listed, count=len(left) - MAX_NAMED)
    return say("brought.not_read", names=listed)


def say_one(name: str, what: tuple[int, ...] | AttentionError | None) -> str:
    """One thing that is not read."""
    if isinstance(what, tuple):
        return name_array(name, what)
    key = "text" if what is None else what.code
    reason = say(f"unread.{key}") if has(f"unread.{key}") else say("unread.form")
    return say("brought.unread_one", name=name_array(name, ()), reason=reason)
