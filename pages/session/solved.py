"""Whether the exercise of the lesson that is shown was answered right: for the browser, which alone keeps it."""

import streamlit as st

SOLVED_KEY = "solved"


def forget_answers() -> None:
    """A lesson is drawn anew."""
    st.session_state[SOLVED_KEY] = False


def note_answer(is_right: bool) -> None:
    """One of the lesson's exercises was judged."""
    st.session_state[SOLVED_KEY] = is_right or is_solved()


def is_solved() -> bool:
    """Whether one of them was right."""
    return st.session_state.get(SOLVED_KEY, False)
