"""What a part of a page shows, collected for a file while that part is drawn out of sight."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

from attention_core.drawing.specifications import Picture
from pages.setup.setup import Setup

COLLECTED_KEY = "collected"  # in the session, while something is collected


@dataclass
class CollectedPart:
    """What was shown. facts: sentences, in Markdown. pictures: each with what it shows, in words. moving: what the
    browser draws the way of a query from. code: listings. run: what the page opens on the workbench."""

    facts: list[str] = field(default_factory=list)
    pictures: list[tuple[Picture, str]] = field(default_factory=list)
    moving: bytes = b""
    code: list[str] = field(default_factory=list)
    run: Setup | None = None


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
    part = st.session_state.pop(COLLECTED_KEY, None)
    try:
        yield
    finally:
        if part is not None:
            st.session_state[COLLECTED_KEY] = part


def is_collecting() -> bool:
    """Whether anything collects now."""
    return COLLECTED_KEY in st.session_state


def collected() -> CollectedPart:
    """What collects now, to add to; where nothing does, one that nobody reads."""
    return st.session_state.get(COLLECTED_KEY, CollectedPart())
