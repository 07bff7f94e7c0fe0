"""TODO"""

import streamlit as st

REVEAL = "reveal"  # whether a lecturer shows all answers; for the session, and in no link


def revealed() -> bool:
    """Whether all answers are shown."""
    return st.session_state.get(REVEAL, False)
