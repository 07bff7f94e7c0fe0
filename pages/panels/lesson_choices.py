"""What a reader chose in a lesson: kept for the session, said by the link, checked wherever it comes from."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.session.linked_state import LinkedState, link_on_arrival, show_link
from pages.setup.setup import MAX_LINK_CHARS
from pages.site.words import has

STAGE = "stage"  # in the place of a lesson's name: the choices of the one that a lecture shows
MAIN_TEXT = "text"  # the control of a lesson's own sentence
COMMON_LINK_KEYS = ("ex", "open", "cell", "guess", "step")  # what the link of any lesson may say besides its controls


@dataclass
class LessonChoices(LinkedState):
    """What a session keeps of a lesson.

    chosen: choices by name, as far as they are not the default. waiting: parts of the link that no control asked for
    yet, because it stands in a closed drawer. cuts: where the Chinese words of typed texts end, by the text's control,
    as pages/setup/stated_cut.py says it.
    """

    chosen: dict[str, object] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    cuts: dict[str, str] = field(default_factory=dict)


def enter_lesson(slug: str) -> None:
    """Makes a lesson the one that is drawn. Who comes from elsewhere finds it as the link says, or as it was left."""
    lessons = st.session_state.setdefault("lessons", {})
    link = link_on_arrival(is_new=slug not in lessons)
    if link or slug not in lessons:
        lessons[slug] = read_linked_choices(slug, link)
    st.session_state.update(lesson=slug, choices=slug)


def enter_lesson_on_stage(slug: str, link: Mapping[str, str] | None) -> None:
    """Makes a lesson the one that is drawn on the stage, whose choices the lesson's own page does not have. link: what
    its link says where it begins; None where it goes on."""
    lessons = st.session_state.setdefault("lessons", {})
    if link is not None:
        lessons[STAGE] = read_linked_choices(slug, link)
    st.session_state.update(lesson=slug, choices=STAGE)


def read_linked_choices(slug: str, link: Mapping[str, str]) -> LessonChoices:
    """The choices that the link of a lesson says."""
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
    """What a link says of the cuts of its texts, by the control of each, and the parts that belong to no text of it.

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
    """The same as a link says it: of the lesson's own sentence without its name, as the workbench's link."""
    return ",".join(cut if name == MAIN_TEXT else f"{name}:{cut}" for name, cut in cuts.items())


def cut_key_of(slug: str) -> str:
    """Where the link of a lesson says the cuts: where the workbench's does, except beside a control of that name."""
    return "words_cut" if has(f"lessons.{slug}.control.cut") else "cut"


def take_stated_cut(name: str, keep: Callable[[str, str], str]) -> None:
    """Lets a text that the link says be cut as the link says, before it is read.

    keep: gives the text cut so, and raises ValueError where that does not fit it: then it is said.
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
    """Keeps where the words of a text end, so that the link says it; nothing of a text whose cut nothing decides."""
    cuts = current_lesson_choices().cuts
    cuts.pop(name, None)
    if stated:
        cuts[name] = stated


def is_known_choice(slug: str, name: str) -> bool:
    """Whether a lesson has a choice of this name."""
    return name in (*COMMON_LINK_KEYS, cut_key_of(slug)) or has(f"lessons.{slug}.control.{name}")


def current_slug() -> str:
    """The lesson that is drawn."""
    return st.session_state["lesson"]


def current_lesson_choices() -> LessonChoices:
    """What the session keeps of it."""
    return st.session_state["lessons"][st.session_state["choices"]]


# ---- a choice --------------------------------------------------------------------------------------------------------
def get_choice(name: str, default: object, read: Callable[[str], object]) -> object:
    """What was chosen under a name, else what the link says, else the default."""
    own = current_lesson_choices()
    if name in own.waiting:
        text = own.waiting.pop(name)
        try:
            own.chosen[name] = read(text)
        except (ValueError, OverflowError):
            own.unread = [*own.unread, (name, text[:40])]
    return own.chosen.get(name, default)


def take_choice(name: str, given: object, default: object, read: Callable[[str], object]) -> None:
    """Keeps what a control was set to, or why it cannot be. A browser may send anything: it is read as a link is."""
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
    """Keeps a choice that was made without a control; None: the default."""
    chosen = current_lesson_choices().chosen
    chosen.pop(name, None)
    if value is not None:
        chosen[name] = value


def format_choice(value: object) -> str:
    """A choice as the link says it: parts, and parts of parts, between commas."""
    if isinstance(value, tuple | list):
        return ",".join(map(format_choice, value))
    return str(value)


def write_lesson_link() -> None:
    """Shows in the address bar what was chosen."""
    show_link(get_lesson_link())


def get_lesson_link() -> dict[str, str]:
    """What was chosen, as the link says it."""
    own = current_lesson_choices()
    chosen = {name: format_choice(value) for name, value in own.chosen.items()}
    link = own.waiting | chosen
    cuts = {name: cut for name, cut in own.cuts.items() if name in link}
    return link | {cut_key_of(current_slug()): write_cuts(cuts)} if cuts else link
