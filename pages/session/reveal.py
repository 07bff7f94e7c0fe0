"""Whether all answers are shown: for the session, and in no link."""

import streamlit as st

REVEAL_KEY = "reveal"  # whether a lecturer shows all answers; for the session, and in no link


def are_answers_revealed() -> bool:
    """Whether all answers are shown."""
    return st.session_state.get(REVEAL_KEY, False)
