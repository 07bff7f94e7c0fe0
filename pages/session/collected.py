"""What a part of a page shows, collected for a file while that part is drawn out of sight."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

from attention_core.documents.slides import STILL_PART, MovingPart
from attention_core.drawing.specifications import Picture
from pages.components import Component
from pages.setup.setup import Setup

COLLECTED_KEY = "collected"  # in the session, while something is collected
RESTING_KEY = "collected_rests"  # in its place, while what is drawn is out of sight


@dataclass
class CollectedPart:
    """What was shown.

    facts: sentences, in Markdown. sentences: what else is said, which a file says where there is no fact. pictures:
    each with what it shows, in words, also those that stand for what moves. moving: what a browser draws, in the order
    of the page, with the pictures between. code: listings. warnings: what to know before any of it is believed, in
    Markdown; a file says it whatever else it says. run: what is opened on the workbench.
    """

    facts: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    pictures: list[tuple[Picture, str]] = field(default_factory=list)
    moving: list[MovingPart] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    run: Setup | None = None

    def add_picture(self, picture: Picture, alt: str) -> None:
        """Adds a picture that does not move."""
        self.moving.append(MovingPart(STILL_PART, {"at": len(self.pictures)}))
        self.pictures.append((picture, alt))


@contextmanager
def collect_part() -> Iterator[CollectedPart]:
    """Collects what is shown as long as this lasts."""
    part = CollectedPart()
    st.session_state[COLLECTED_KEY] = part
    try:
        yield part
    finally:
        del st.session_state[COLLECTED_KEY]


@contextmanager
def collect_nothing() -> Iterator[None]:
    """Collects nothing of what is drawn as long as this lasts, since it is out of sight on its page, too."""
    with move_in_session(COLLECTED_KEY, RESTING_KEY):
        yield


@contextmanager
def collect_in_sight() -> Iterator[None]:
    """Collects what is drawn as long as this lasts, although it stands amid what is out of sight."""
    with move_in_session(RESTING_KEY, COLLECTED_KEY):
        yield


@contextmanager
def move_in_session(here: str, there: str) -> Iterator[None]:
    """Keeps what the session has under a key, if anything, under another one as long as this lasts."""
    if here not in st.session_state:
        yield
        return
    st.session_state[there] = st.session_state.pop(here)
    try:
        yield
    finally:
        st.session_state[here] = st.session_state.pop(there)


def is_collecting() -> bool:
    """Whether anything collects now."""
    return COLLECTED_KEY in st.session_state


def show_moving(
    component: Component, data: bytes | Mapping[str, object], answers: bool = False, **options: object
) -> None:
    """Shows a part of the screen that answers a hand in the browser alone, so that it moves in a file, too. answers:
    whether it says what the part of the page says in bold."""
    collected().moving.append(MovingPart(component.name, data, answers))
    component(data=data, **options)


def collect_still(draw: Callable[[], Picture], alt: str) -> None:
    """Collects the picture that stands for what moves, in slides and on paper. It is drawn for a file alone."""
    if is_collecting():
        collected().pictures.append((draw(), alt))


def collected() -> CollectedPart:
    """What collects now, to add to; where nothing does, one that nobody reads."""
    return st.session_state.get(COLLECTED_KEY, CollectedPart())
