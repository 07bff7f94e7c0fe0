"""Shows an uploader in the language of the page, and a sentence about those entries of a file that were ignored."""

from collections.abc import Iterable, Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.stored_arrays import ARRAY_BOUNDS
from attention_core.record.errors import AttentionError
from pages import components
from pages.site.words import escape_markdown, get_text_template, has, label_arrays, say

# limit for one file; the server accepts larger uploads, but only for attention maps
MAX_UPLOAD_MB = ARRAY_BOUNDS.megabytes
BOX_WORDS = ("choose", "drop", "each", "add", "remove", "kind", "size", "one", "input", "error", "lost", "waits")


def file_box(label: str, types: Sequence[str], key: str, **options) -> UploadedFile | list[UploadedFile] | None:
    """Shows an uploader for one file or several; returns the value of st.file_uploader.

    options: further arguments of st.file_uploader.
    """
    words = {name: get_text_template(f"upload.{name}") for name in BOX_WORDS}
    with st.container(key=f"files_of_{key}", gap=None):
        components.file_words(data={"words": words}, key=f"{key}_words")
        return st.file_uploader(label, type=types, key=key, **options)


# ---- the entries of a file that are not read: each by name, with the reason ------------------------------------------
MAX_NAMED = 12  # most ignored entries of a file that are listed by name; others are counted

Unread = tuple[str, tuple[int, ...] | AttentionError | None]  # (name, shape of an array | its error | None for a text)


def name_array(name: str, shape: tuple[int, ...]) -> str:
    """Returns an array's name in Markdown, followed by its shape unless it is a single number."""
    shown = f"**{escape_markdown(label_arrays([name])[name])}**"
    return f"{shown} ({', '.join(map(str, shape))})" if shape else shown


def say_unread(unread: Iterable[Unread]) -> str:
    """Returns the sentence that lists the ignored entries of a file; "" if there are none."""
    left = list(unread)
    if not left:
        return ""
    listed = say("fact.comma").join(say_one(name, what) for name, what in left[:MAX_NAMED])
    if len(left) > MAX_NAMED:
        return say("brought.not_read_more", names=listed, count=len(left) - MAX_NAMED)
    return say("brought.not_read", names=listed)


def say_one(name: str, what: tuple[int, ...] | AttentionError | None) -> str:
    """Returns the text about one ignored entry: its name, and its shape or its error."""
    if isinstance(what, tuple):
        return name_array(name, what)
    key = "text" if what is None else what.code
    reason = say(f"unread.{key}") if has(f"unread.{key}") else say("unread.form")
    return say("brought.unread_one", name=name_array(name, ()), reason=reason)
