"""What a reader chose in a lesson: kept for the session, said by the link, checked wherever it comes from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.session.linked_state import LinkedState, link_on_arrival, show_link
from pages.setup.setup import MAX_LINK_CHARS
from pages.site.words import has

STAGE = "stage"  # in the place of a lesson's name: the choices of the one that a lecture shows
COMMON_LINK_KEYS = ("ex", "open", "cell", "guess", "step")  # what the link of any lesson may say besides its controls


@dataclass
class LessonChoices(LinkedState):
    """What a session keeps of a lesson.

    chosen: choices by name, as far as they are not the default. waiting: parts of the link that no control asked for
    yet, because it stands in a closed drawer.
    """

    chosen: dict[str, object] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)


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
    choices = LessonChoices(waiting=known)
    choices.name_unknown_parts(link, known)
    return choices


def is_known_choice(slug: str, name: str) -> bool:
    """Whether a lesson has a choice of this name."""
    return name in COMMON_LINK_KEYS or has(f"lessons.{slug}.control.{name}")


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
    return own.waiting | chosen
