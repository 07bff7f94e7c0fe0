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
    """What of a page is shown. name: of the part. place: where it is drawn, unless it is the page's own picture.
    is_answered: whether the page's own question is not asked, because the lecture has asked its own before."""

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
    """Whether a page is drawn on the stage without scrolling: what is below its own picture is left out. A file chooses
    from all that is drawn."""
    return get_staged_part() is not None and not is_collecting()


def is_answered_on_stage() -> bool:
    """Whether a page is drawn on the stage with its question already answered."""
    staged = get_staged_part()
    return staged is not None and staged.is_answered
