"""Stores the models that this session opened last, each with its text, and shows buttons that open them again."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attention_core.inputs.files.stored_arrays import printable_name
from pages.site.words import escape_markdown, say

RECENT_KEY = "maps_recent"  # session key: the opened models with their texts, the latest first
TO_OPEN_KEY = "maps_to_open"  # session key: the text that the form opens next, as after a click on its button
FORM_KEYS = ("c_maps_folder", "c_maps_text", "c_maps_further")  # keys of the widgets in the form
MAX_RECENT = 5
MAX_LABEL_CHARS = 32


@dataclass(frozen=True)
class AskedText:
    """A model that the visitor requested, and its text. named: the model's name in the form and in the link. further:
    the second text.
    """

    named: str
    text: str
    further: str


def note_opened(asked: AskedText) -> None:
    """Puts an opened model with its text at the beginning of the list, and removes an earlier text of this model."""
    others = [each for each in st.session_state.get(RECENT_KEY, []) if each.named != asked.named]
    st.session_state[RECENT_KEY] = [asked, *others][:MAX_RECENT]


def show_recent(may_open: Callable[[str], bool]) -> None:
    """Shows a button for each model of the list that may be opened, if there are several models."""
    found = [each for each in st.session_state.get(RECENT_KEY, []) if may_open(each.named)]
    if len(found) < 2:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="maps_recent_models"):
        st.markdown(say("lessons.maps.model.recent"), width="content")
        for number, asked in enumerate(found):
            label = escape_markdown(printable_name(shorten(asked.named)))
            key, begins = f"maps_recent_{number}", partial(ask_again, asked)
            st.button(label, key=key, on_click=begins, help=escape_markdown(printable_name(asked.named)))


def shorten(named: str) -> str:
    """Returns the end of a long path; any other name is unchanged."""
    if len(named) <= MAX_LABEL_CHARS:
        return named
    return f"…{named[-MAX_LABEL_CHARS:]}"


def ask_again(asked: AskedText) -> None:
    """Puts a model and its text into the form, which then opens the model."""
    st.session_state[TO_OPEN_KEY] = asked
    for key, value in zip(FORM_KEYS, (asked.named, asked.text, asked.further), strict=True):
        st.session_state[key] = value
