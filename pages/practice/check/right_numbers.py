"""Whether the right numbers of a step may be seen: a reader asks for a step, or for all answers at once."""

import streamlit as st

from pages.session.reveal import are_answers_revealed
from pages.setup.setup import Setup

ASKED_KEY = "right_asked"  # in the session: the exercise and the step whose right numbers were asked for


def is_right_shown(setup: Setup, step: str) -> bool:
    """Whether the right numbers of a step may be seen."""
    return are_answers_revealed() or st.session_state.get(ASKED_KEY) == (setup, step)


def show_right(setup: Setup, step: str) -> None:
    """Shows the right numbers of a step, until another one is worked out."""
    st.session_state[ASKED_KEY] = (setup, step)
