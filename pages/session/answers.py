"""Stores whether an exercise of the lesson was solved, and whether all answers are shown."""

import streamlit as st

SOLVED_KEY = "solved"  # session key: whether an exercise was solved; the browser stores this as well
REVEAL_KEY = "reveal"  # session key: whether a lecturer shows all answers; never part of a link


def forget_answers() -> None:
    """Marks the exercises of the lesson as unsolved; called when the visitor comes to the lesson."""
    st.session_state[SOLVED_KEY] = False


def note_answer(is_right: bool) -> None:
    """Records whether the visitor's answer to an exercise is right; a solved exercise stays solved after a wrong
    answer.
    """
    st.session_state[SOLVED_KEY] = is_right or is_solved()


def is_solved() -> bool:
    """Returns whether an exercise of the lesson was solved."""
    return st.session_state.get(SOLVED_KEY, False)


def are_answers_revealed() -> bool:
    """Returns whether a lecturer shows the answers of all exercises."""
    return st.session_state.get(REVEAL_KEY, False)
