"""Stores the models that were opened last, and shows buttons that open them again.

The session stores the models with their texts; the browser stores the names alone, which survive a reload.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attention_core.inputs.files.stored_arrays import printable_name
from pages.components import MAX_KEPT_MODELS, MAX_KEPT_NAME_CHARS, kept_models
from pages.site.words import escape_markdown, say

RECENT_KEY = "maps_recent"  # session key: the opened models with their texts, the latest first
# session key: True after the browser sent its stored names, or after the list was emptied
HEARD_KEY = "maps_recent_heard"
TO_OPEN_KEY = "maps_to_open"  # session key of the AskedText that the form opens in the next script run
FORM_KEYS = ("c_maps_folder", "c_maps_text", "c_maps_further")  # keys of the widgets in the form
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
    others = [each for each in list_recent() if each.named != asked.named]
    st.session_state[RECENT_KEY] = [asked, *others][:MAX_KEPT_MODELS]


def list_recent() -> list[AskedText]:
    """Returns the models that were opened last; a model from an earlier session has no text."""
    return st.session_state.get(RECENT_KEY, [])


def show_recent(may_open: Callable[[str], bool]) -> None:
    """Shows a button for each recently opened model that the visitor may open, and a button that empties the list.

    If the list has a single model, it is shown only after a reload; before, it is the model on the page.
    """
    names = [each.named for each in list_recent() if len(each.named) <= MAX_KEPT_NAME_CHARS]
    kept_models(
        data={"names": names, "begins": not st.session_state.get(HEARD_KEY, False)},
        key="kept_models",
        on_read=take_kept,
    )
    found = [each for each in list_recent() if may_open(each.named)]
    if len(found) < 2 and all(each.text for each in found):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="maps_recent_models"):
        st.markdown(say("lessons.maps.model.recent"), width="content")
        for number, asked in enumerate(found):
            label = escape_markdown(printable_name(shorten(asked.named)))
            key, begins = f"maps_recent_{number}", partial(ask_again, asked)
            st.button(label, key=key, on_click=begins, help=escape_markdown(printable_name(asked.named)))
        forgets, why = say("lessons.maps.model.forget"), say("lessons.maps.model.forget_help")
        st.button(forgets, key="maps_forget", on_click=forget_recent, help=why, type="tertiary")


def take_kept(names: Sequence[str]) -> None:
    """Adds the names of models that the browser had stored to the list, after those that this session has opened."""
    st.session_state[HEARD_KEY] = True
    known = [each.named for each in list_recent()]
    others = [AskedText(name, "", "") for name in dict.fromkeys(names) if name not in known]
    st.session_state[RECENT_KEY] = [*list_recent(), *others][:MAX_KEPT_MODELS]


def forget_recent() -> None:
    """Empties the list of recently opened models, in the session and in the browser."""
    st.session_state[RECENT_KEY], st.session_state[HEARD_KEY] = [], True


def shorten(named: str) -> str:
    """Returns a model's name; of a long path, only the end."""
    if len(named) <= MAX_LABEL_CHARS:
        return named
    return f"…{named[-MAX_LABEL_CHARS:]}"


def ask_again(asked: AskedText) -> None:
    """Puts a recent model and its text into the form, which then opens the model; if the text is unknown, the form's
    text stays.
    """
    if not asked.text:
        text, further = (st.session_state.get(key, "") for key in FORM_KEYS[1:])
        asked = AskedText(asked.named, text, further)
    st.session_state[TO_OPEN_KEY] = asked
    for key, value in zip(FORM_KEYS, (asked.named, asked.text, asked.further), strict=True):
        st.session_state[key] = value
