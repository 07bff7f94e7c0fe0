"""Answers of exercises: whether one of the current lesson was solved, and whether a lecturer shows all answers."""

import streamlit as st

SOLVED_KEY = "solved"  # whether an exercise of the lesson was solved; the browser stores it, too
REVEAL_KEY = "reveal"  # whether a lecturer shows all answers; for the session, and in no link


def forget_answers() -> None:
    """Marks the lesson as unsolved when it is drawn anew."""
    st.session_state[SOLVED_KEY] = False


def note_answer(is_right: bool) -> None:
    """Records whether an answer to an exercise is right; a solved exercise stays solved after a wrong answer."""
    st.session_state[SOLVED_KEY] = is_right or is_solved()


def is_solved() -> bool:
    """Whether an exercise of the lesson was solved."""
    return st.session_state.get(SOLVED_KEY, False)


def are_answers_revealed() -> bool:
    """Whether all answers are shown."""
    return st.session_state.get(REVEAL_KEY, False)
