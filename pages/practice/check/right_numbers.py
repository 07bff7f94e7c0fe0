"""Whether the right numbers of a step are shown: on request for one step, or with all answers."""

import streamlit as st

from pages.session.reveal import are_answers_revealed
from pages.setup.setup import Setup

ASKED_KEY = "right_asked"  # session state: the exercise and the step whose right numbers were requested


def is_right_shown(setup: Setup, step: str) -> bool:
    """Whether the right numbers of a step are shown."""
    return are_answers_revealed() or st.session_state.get(ASKED_KEY) == (setup, step)


def show_right(setup: Setup, step: str) -> None:
    """Requests the right numbers of a step; the request for another step replaces it."""
    st.session_state[ASKED_KEY] = (setup, step)
