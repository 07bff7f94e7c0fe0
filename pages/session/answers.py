"""Stores the state of exercises: whether an exercise of the lesson was solved, and whether all answers are shown."""

import streamlit as st

SOLVED_KEY = "solved"  # key in the session state: whether an exercise was solved; the browser stores it, too
REVEAL_KEY = "reveal"  # whether a lecturer shows all answers; kept for the session and never put in a link


def forget_answers() -> None:
    """Marks the exercises of the lesson as unsolved when the lesson is drawn anew."""
    st.session_state[SOLVED_KEY] = False


def note_answer(is_right: bool) -> None:
    """Records whether an answer to an exercise is right; a solved exercise stays solved after a wrong answer."""
    st.session_state[SOLVED_KEY] = is_right or is_solved()


def is_solved() -> bool:
    """Returns whether an exercise of the lesson was solved."""
    return st.session_state.get(SOLVED_KEY, False)


def are_answers_revealed() -> bool:
    """Returns whether all answers are shown."""
    return st.session_state.get(REVEAL_KEY, False)
