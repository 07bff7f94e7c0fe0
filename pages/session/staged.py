"""A part of a page drawn on the stage of a lecture without the rest of its page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.session.collected import is_collecting

STAGED_KEY = "staged"  # in the session, while the part is drawn


@dataclass(frozen=True, eq=False)
class StagedPart:
    """The part of a page that is shown on the stage. name: of the part. place: the container in which the part is
    drawn, unless it is the page's own picture. is_answered: whether the page's own question is omitted, because the
    lecture has asked its own.
    """

    name: str
    place: DeltaGenerator
    is_answered: bool


def get_staged_part() -> StagedPart | None:
    """The part being drawn on the stage, or None."""
    return st.session_state.get(STAGED_KEY)


@contextmanager
def stage_part(part: StagedPart) -> Iterator[None]:
    """Context manager that draws a part of a page on the stage."""
    st.session_state[STAGED_KEY] = part
    try:
        yield
    finally:
        del st.session_state[STAGED_KEY]


def is_one_screen() -> bool:
    """Whether a page is drawn on the stage without scrolling, so that everything below its main picture is omitted;
    False while collecting for a file, which chooses from the whole page.
    """
    return get_staged_part() is not None and not is_collecting()


def is_answered_on_stage() -> bool:
    """Whether a page is drawn on the stage with its question already answered."""
    staged = get_staged_part()
    return staged is not None and staged.is_answered
