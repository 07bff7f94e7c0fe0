"""Shows the code lines of a layer, one of which is wrong: the visitor clicks a line to see its result, or to guess that
this line is wrong.
"""

import streamlit as st

from attention_core.drawing.cells import symbol_colour
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.bugs import BUGS, LAYER_LINES, LAYER_STEPS, Bug, LayerLine, format_line, right_lines
from pages.components import code_lines
from pages.panels.control import Control
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, link_control, make_place_reader
from pages.session.answers import are_answers_revealed
from pages.session.labels import current_palette
from pages.setup.link_values import make_member_reader
from pages.setup.setup import Setup, make_setup
from pages.site.words import say

FOUND_BUGS_KEY = "bugs_found"  # session key of the numbers (from 1) of all found bugs
SHOWN_BUG_KEY = "bug"  # session key of the number (from 1) of the shown bug
FIRST_STEP = "weights"  # the step whose numbers are shown at first
LINE_NUMBERS = tuple(str(number) for number, _ in enumerate(LAYER_LINES, 1))


# ---- the choice of a bug ---------------------------------------------------------------------------------------------
def choose_bug() -> Bug:
    """Shows the choice of a bug and returns the chosen one.

    The choice shows numbers, because the name of a bug would reveal the answer.
    """
    numbers = [str(number) for number, _ in enumerate(BUGS, 1)]
    number = get_choice("bug", numbers[0], make_member_reader(numbers))
    found = st.session_state.setdefault(FOUND_BUGS_KEY, set())
    if st.session_state.get(SHOWN_BUG_KEY, number) != number:
        store_choice("guess", None)  # the former guess was about another bug
    st.session_state[SHOWN_BUG_KEY] = number
    bug = BUGS[numbers.index(number)]
    if guess_control().value == find_wrong_line(bug):
        found.add(number)
    choose_option("bug", numbers, words=lambda name: f"{name} ✓" if name in found else name)
    return bug


def setup_for_bug(example: str, bug: Bug) -> Setup:
    """Returns the Setup of the right run to compare a bug's run with: it has a causal mask, or a batch with padding."""
    if not bug.padded:
        return make_setup(example=example, masks=("causal",))
    *_, shorter = EXAMPLES[example].batch.splitlines()
    return make_setup(example=example, more=shorter, sentence=1)


def find_wrong_line(bug: Bug) -> int:
    """Returns the index of a bug's wrong line in LAYER_LINES."""
    return [*LAYER_LINES].index(bug.line)


def format_bug_diff(bug: Bug) -> str:
    """Returns the wrong line and the correct line as a diff."""
    lines = right_lines(bug)
    wrong = format_line(bug.line, bug.wrong)
    right = format_line(bug.line, lines[bug.line])
    return f"- {wrong}\n+ {right}"


# ---- the lines, and the guess ----------------------------------------------------------------------------------------
def look_control() -> Control:
    """Returns the control that selects the step whose numbers are shown beside the code."""
    return link_control("look", FIRST_STEP, make_member_reader(LAYER_STEPS))


def guess_control() -> Control:
    """Returns the control with the visitor's guess: the index of the line, or None before a guess."""
    return link_control("guess", None, make_place_reader(len(LAYER_LINES)))


def is_line_known(bug: Bug) -> bool:
    """Returns whether the wrong line may be shown: the guess was right, or all answers are revealed."""
    return guess_control().value == find_wrong_line(bug) or are_answers_revealed()


def show_lines(bug: Bug) -> None:
    """Shows the layer's lines as right code, each with a button to guess that the layer's line is wrong."""
    data = {
        "lines": [describe_line(bug, place, *line) for place, line in enumerate(right_lines(bug).items())],
        "looked": look_control().value,
        "asksLook": say("lessons.bugs.control.look"),
        "asksGuess": say("lessons.bugs.control.guess"),
        "alt": say("lessons.bugs.lines"),
    }
    code_lines(
        data=data,
        key="bug_lines",
        given={"steps": LAYER_STEPS, "lines": len(LAYER_LINES)},
        on_looked=lambda step: look_control().take(step),
        on_guessed=lambda line: guess_control().take(line),
    )


def describe_line(bug: Bug, place: int, name: str, line: LayerLine) -> dict[str, object]:
    """Returns the data of a code line for the browser: its text, its step, whether it is guessed, and its mark.

    place: the index of the line. name: the name of the step. line: the code that computes the step.
    """
    number = LINE_NUMBERS[place]
    step = name if name in LAYER_STEPS else None
    looks_at = say("lessons.bugs.no_look", number=number)
    if step is not None:
        looks_at = say("lessons.bugs.looks_at", number=number, step=say(f"lessons.bugs.option.look.{step}"))
    return {
        "number": number,
        "made": name,
        "rest": format_line(name, line).removeprefix(name),
        "ink": symbol_colour(name, current_palette()),
        "step": step,
        "looksAt": looks_at,
        "blames": say("lessons.bugs.blames", number=number),
        "isGuessed": guess_control().value == place,
        "verdict": judge_line(bug, place),
    }


def judge_line(bug: Bug, place: int) -> str:
    """Returns the mark of a line: ✓ for the wrong line once it is known, × for a wrong guess, else ""."""
    if place == find_wrong_line(bug):
        return "✓" if is_line_known(bug) else ""
    return "×" if guess_control().value == place else ""


def show_verdict(bug: Bug) -> None:
    """Shows whether the guessed line is the wrong one; shows nothing before a guess."""
    guess = guess_control().value
    if guess is not None:
        verdict = "found" if guess == find_wrong_line(bug) else "as_meant"
        st.markdown(say(f"lessons.bugs.{verdict}", number=LINE_NUMBERS[guess]))
