"""Collects the pictures, sentences and code that a page shows, for an exported file."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

from attention_core.documents.slides import STILL_PART, MovingPart
from attention_core.drawing.specifications import Picture
from pages.components import Component
from pages.setup.setup import Setup

COLLECTED_KEY = "collected"  # session key of the CollectedPart while content is collected
RESTING_KEY = "collected_rests"  # session key to which the CollectedPart is moved while collecting is suspended


@dataclass
class CollectedPart:
    """The content that a page showed, collected for an exported file.

    facts: the page's main statements, in Markdown. sentences: other sentences, which a file shows if there are no
    facts. pictures: each is (picture, alt text); still pictures of animated parts are included. moving: data of the
    animated parts, in the order of the page, with the pictures between them. code: listings. warnings: warnings about
    the content, in Markdown, which a file always shows. run: the Setup that the page opens on the workbench.
    """

    facts: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    pictures: list[tuple[Picture, str]] = field(default_factory=list)
    moving: list[MovingPart] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    run: Setup | None = None

    def add_picture(self, picture: Picture, alt: str) -> None:
        """Adds a picture that is not animated, with its alt text."""
        self.moving.append(MovingPart(STILL_PART, {"at": len(self.pictures)}))
        self.pictures.append((picture, alt))


@contextmanager
def collect_part() -> Iterator[CollectedPart]:
    """Context manager that collects everything that is shown inside it, in the CollectedPart that it yields."""
    part = CollectedPart()
    st.session_state[COLLECTED_KEY] = part
    try:
        yield part
    finally:
        del st.session_state[COLLECTED_KEY]


@contextmanager
def collect_nothing() -> Iterator[None]:
    """Context manager that suspends collecting, for content that a page draws but hides."""
    with move_in_session(COLLECTED_KEY, RESTING_KEY):
        yield


@contextmanager
def collect_in_sight() -> Iterator[None]:
    """Context manager that resumes collecting inside collect_nothing, for content that the visitor does see."""
    with move_in_session(RESTING_KEY, COLLECTED_KEY):
        yield


@contextmanager
def move_in_session(here: str, there: str) -> Iterator[None]:
    """Context manager that moves a session value, if it exists, to another key, and back at the end."""
    if here not in st.session_state:
        yield
        return
    st.session_state[there] = st.session_state.pop(here)
    try:
        yield
    finally:
        st.session_state[here] = st.session_state.pop(there)


def is_collecting() -> bool:
    """Returns whether the content that the page shows is being collected for a file."""
    return COLLECTED_KEY in st.session_state


def show_moving(
    component: Component, data: bytes | Mapping[str, object], answers: bool = False, **options: object
) -> None:
    """Shows a component that is animated in the browser, and collects its data as an animated part of a file.

    answers: whether the component reveals the answer to a slide's exercise.
    """
    collected().moving.append(MovingPart(component.name, data, answers))
    component(data=data, **options)


def collect_still(draw: Callable[[], Picture], alt: str) -> None:
    """Collects a still picture in place of an animated part, for slides and paper.

    draw: a function that draws the picture; it is called only while collecting.
    """
    if is_collecting():
        collected().pictures.append((draw(), alt))


def collected() -> CollectedPart:
    """Returns the CollectedPart to which shown content is added; while nothing is collected, a new one that is
    discarded.
    """
    return st.session_state.get(COLLECTED_KEY, CollectedPart())
