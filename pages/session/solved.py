"""Whether an exercise of the current lesson was solved; the browser stores it."""

import streamlit as st

SOLVED_KEY = "solved"


def forget_answers() -> None:
    """Marks the lesson as unsolved when it is drawn anew."""
    st.session_state[SOLVED_KEY] = False


def note_answer(is_right: bool) -> None:
    """Records whether an answer to an exercise is right; solved stays solved."""
    st.session_state[SOLVED_KEY] = is_right or is_solved()


def is_solved() -> bool:
    """Whether an exercise of the lesson was solved."""
    return st.session_state.get(SOLVED_KEY, False)
