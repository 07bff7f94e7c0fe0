"""The state of exercises: whether an exercise of the current lesson was solved, and whether all answers are shown."""

import streamlit as st

SOLVED_KEY = "solved"  # whether an exercise of the lesson was solved; the browser stores this, too
REVEAL_KEY = "reveal"  # whether a lecturer shows all answers; this lasts for the session, and no link contains it


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
