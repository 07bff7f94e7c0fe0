"""The choice of a bug, the Setup of its correct run, and its wrong line."""

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.bugs import BUGS, LAYER_LINES, Bug, format_line, right_lines
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, make_place_reader
from pages.setup.link_values import make_member_reader
from pages.setup.setup import Setup, make_setup

FOUND_BUGS_KEY = "bugs_found"  # session key of the numbers of the bugs that were found
SHOWN_BUG_KEY = "bug"  # session key of the number of the bug that is shown


def choose_bug() -> Bug:
    """Shows the choice of a bug and returns the chosen one; bugs are numbered, because a name would reveal the
    answer.
    """
    numbers = [str(number) for number, _ in enumerate(BUGS, 1)]
    number = get_choice("bug", numbers[0], make_member_reader(numbers))
    found = st.session_state.setdefault(FOUND_BUGS_KEY, set())
    if st.session_state.get(SHOWN_BUG_KEY, number) != number:
        store_choice("guess", None)  # the guess was for another bug
    st.session_state[SHOWN_BUG_KEY] = number
    bug = BUGS[numbers.index(number)]
    guess = get_choice("guess", None, make_place_reader(len(LAYER_LINES)))
    if guess == find_wrong_line(bug):
        found.add(number)
    choose_option("bug", numbers, words=lambda name: f"{name} ✓" if name in found else name)
    return bug


def setup_for_bug(example: str, bug: Bug) -> Setup:
    """The Setup of the correct run of a bug: with a causal mask, or in a batch with padding."""
    if not bug.padded:
        return make_setup(example=example, masks=("causal",))
    *_, shorter = EXAMPLES[example].batch.splitlines()
    return make_setup(example=example, more=shorter, sentence=1)


def find_wrong_line(bug: Bug) -> int:
    """The index of a bug's wrong line in LAYER_LINES."""
    return [*LAYER_LINES].index(bug.line)


def format_bug_diff(bug: Bug) -> str:
    """The wrong line and the correct one, as a diff."""
    lines = right_lines(bug)
    wrong = format_line(bug.line, bug.wrong)
    right = format_line(bug.line, lines[bug.line])
    return f"- {wrong}\n+ {right}"
