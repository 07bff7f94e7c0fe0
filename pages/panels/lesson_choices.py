"""Stores a visitor's choices in a lesson: in the session and in the link; checks them when they arrive."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.classroom.rooms import EXERCISES
from pages.session.linked_state import LinkedState, link_on_arrival, show_link
from pages.setup.codec import MAX_LINK_CHARS
from pages.site.words import has

STAGE = "stage"  # session key of the choices of a lesson in a lecture
MAIN_TEXT = "text"  # name of the control for a lesson's main sentence
ROOM_KEY = "room"  # link key of the room whose class works on an exercise
COMMON_LINK_KEYS = ("ex", "open", "cell", "guess", "step")  # link keys that every lesson has besides its controls' keys


@dataclass
class LessonChoices(LinkedState):
    """The state of a lesson in a session.

    chosen: {name: chosen value}, without defaults. waiting: {name: text of the link} that no control has read yet,
    because the control is in a closed accordion. cuts: {control of a typed text: the segmentation of its Chinese
    words}, in the format of pages/setup/stated_cut.py.
    """

    chosen: dict[str, object] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    cuts: dict[str, str] = field(default_factory=dict)


def enter_lesson(slug: str) -> None:
    """Makes a lesson the current lesson of the session.

    If the visitor has just arrived, the choices in the link replace the choices stored in the session.
    """
    lessons = st.session_state.setdefault("lessons", {})
    link = link_on_arrival(is_new=slug not in lessons)
    if link or slug not in lessons:
        lessons[slug] = read_linked_choices(slug, link)
    st.session_state.update(lesson=slug, choices=slug)


def enter_lesson_on_stage(slug: str, link: Mapping[str, str] | None) -> None:
    """Makes a lesson the current lesson of a lecture, with choices separate from those on the lesson's own page.

    link: the lesson's link when it starts; None when it continues.
    """
    lessons = st.session_state.setdefault("lessons", {})
    if link is not None:
        lessons[STAGE] = read_linked_choices(slug, link)
    st.session_state.update(lesson=slug, choices=STAGE)


def read_linked_choices(slug: str, link: Mapping[str, str]) -> LessonChoices:
    """Parses a lesson's link to the choices that it contains."""
    known = {}
    for key, text in link.items():
        if len(text) <= MAX_LINK_CHARS and is_known_choice(slug, key):
            known[key] = text
    cut_key = cut_key_of(slug)
    stated = known.pop(cut_key, None)
    cuts, unread = ({}, []) if stated is None else read_cuts(stated, known)
    choices = LessonChoices(waiting=known, cuts=cuts, unread=[(cut_key, text[:40]) for text in unread])
    choices.name_unknown_parts(link, {*known, cut_key})
    return choices


def read_cuts(text: str, known: Container[str]) -> tuple[dict[str, str], list[str]]:
    """Parses the segmentations ("cuts") of Chinese texts in a lesson's link, such as "232": words of 2, 3 and 2
    characters.

    Returns {control: cut}, and the parts that belong to none of the lesson's texts. known: the names of the lesson's
    texts.

    >>> read_cuts("232,said:11,nobody:1", ("text", "said"))
    ({'text': '232', 'said': '11'}, ['nobody:1'])
    """
    cuts, unread = {}, []
    for part in text.split(","):
        name, _, lengths = part.rpartition(":")
        name = name or MAIN_TEXT
        if name in known:
            cuts[name] = lengths
        else:
            unread.append(part)
    return cuts, unread


def write_cuts(cuts: Mapping[str, str]) -> str:
    """Writes segmentations ("cuts") of Chinese texts as a link's text, the inverse of read_cuts.

    The cut of the main sentence has no name, as in the workbench's link.
    """
    return ",".join(cut if name == MAIN_TEXT else f"{name}:{cut}" for name, cut in cuts.items())


def cut_key_of(slug: str) -> str:
    """Returns the link key for the segmentations of a lesson: "cut" as on the workbench, unless a control has that
    name.
    """
    return "words_cut" if has(f"lessons.{slug}.control.cut") else "cut"


def take_stated_cut(name: str, keep: Callable[[str, str], str]) -> None:
    """Applies the segmentation in the link to a control's text, before the control reads the text.

    keep: a function that returns the text with this segmentation; it raises ValueError if the segmentation does not fit
    the text. A segmentation that does not fit is reported on the page.
    """
    own = current_lesson_choices()
    if name not in own.waiting or name not in own.cuts:
        return
    stated = own.cuts.pop(name)
    try:
        own.waiting[name] = keep(own.waiting[name], stated)
    except ValueError:
        own.unread = [*own.unread, (cut_key_of(current_slug()), stated[:40])]


def store_cut(name: str, stated: str) -> None:
    """Stores the segmentation of a control's text for the link; removes it if `stated` is ""."""
    cuts = current_lesson_choices().cuts
    cuts.pop(name, None)
    if stated:
        cuts[name] = stated


def is_known_choice(slug: str, name: str) -> bool:
    """Returns whether a lesson has a choice with this name."""
    if name == ROOM_KEY and slug in EXERCISES:
        return True
    return name in (*COMMON_LINK_KEYS, cut_key_of(slug)) or has(f"lessons.{slug}.control.{name}")


def current_slug() -> str:
    """Returns the slug of the current lesson."""
    return st.session_state["lesson"]


def current_lesson_choices() -> LessonChoices:
    """Returns the choices of the current lesson in this session."""
    return st.session_state["lessons"][st.session_state["choices"]]


# ---- a choice --------------------------------------------------------------------------------------------------------
def get_choice(name: str, default: object, read: Callable[[str], object]) -> object:
    """Returns the value of a choice in the current lesson: the visitor's, else the link's, else the default."""
    own = current_lesson_choices()
    if name in own.waiting:
        text = own.waiting.pop(name)
        try:
            own.chosen[name] = read(text)
        except (ValueError, OverflowError):
            own.unread = [*own.unread, (name, text[:40])]
    return own.chosen.get(name, default)


def take_choice(name: str, given: object, default: object, read: Callable[[str], object]) -> None:
    """Stores the value that a control sends; if it is refused, stores the error instead.

    A browser may send anything, so the value is parsed like a text from a link.
    """
    own = current_lesson_choices()
    try:
        value = default if given is None or given == default else read(format_choice(given))
    except AttentionError as refusal:
        own.refuse(name, refusal)
        return
    except (ValueError, OverflowError):
        return
    own.forget_refusals(name)
    own.forget_trouble()
    own.chosen.pop(name, None)
    if value != default:
        own.chosen[name] = value


def store_choice(name: str, value: object) -> None:
    """Stores a choice that the visitor made without a control, for example in a picture.

    value: the choice; None restores the default.
    """
    chosen = current_lesson_choices().chosen
    chosen.pop(name, None)
    if value is not None:
        chosen[name] = value


def format_choice(value: object) -> str:
    """Returns a choice as text for the link, with nested parts joined by commas."""
    if isinstance(value, tuple | list):
        return ",".join(map(format_choice, value))
    return str(value)


def write_lesson_link() -> None:
    """Writes the lesson's choices into the address bar."""
    show_link(get_lesson_link())


def get_lesson_link() -> dict[str, str]:
    """Returns the lesson's choices as {link key: text}."""
    own = current_lesson_choices()
    chosen = {name: format_choice(value) for name, value in own.chosen.items()}
    link = own.waiting | chosen
    cuts = {name: cut for name, cut in own.cuts.items() if name in link}
    return link | {cut_key_of(current_slug()): write_cuts(cuts)} if cuts else link
