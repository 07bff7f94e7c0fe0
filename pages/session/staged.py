"""Lets a lecture draw one part of a page on the screen of the audience (the stage), without the rest of the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.session.collected import is_collecting

STAGED_KEY = "staged"  # session key of the part of a page that is being drawn


@dataclass(frozen=True, eq=False)
class StagedPart:
    """The part of a page that a lecture shows on the screen of the audience (the stage).

    name: the name of the part. place: the container in which the part is drawn, unless it is the page's main picture.
    is_answered: whether the page's question is left out, because the lecture has asked its own.
    """

    name: str
    place: DeltaGenerator
    is_answered: bool


def get_staged_part() -> StagedPart | None:
    """Returns the part of a page that a lecture is drawing for its audience; None outside a lecture."""
    return st.session_state.get(STAGED_KEY)


@contextmanager
def stage_part(part: StagedPart) -> Iterator[None]:
    """Context manager in which get_staged_part returns `part`, so that a lecture draws only this part of a page."""
    st.session_state[STAGED_KEY] = part
    try:
        yield
    finally:
        del st.session_state[STAGED_KEY]


def is_one_screen() -> bool:
    """Returns whether a lecture draws the page on one screen: without anything below the main picture, so that nothing
    scrolls.

    Returns False while content is collected for a file, which may contain any part of the page.
    """
    return get_staged_part() is not None and not is_collecting()


def is_answered_on_stage() -> bool:
    """Returns whether a lecture draws the page without the page's question, because the lecture has asked its own."""
    staged = get_staged_part()
    return staged is not None and staged.is_answered
