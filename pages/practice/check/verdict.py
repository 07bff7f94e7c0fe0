"""How the numbers of a step are judged."""

from collections.abc import Mapping

import streamlit as st

from attention_core.exercises.slips import StepSlips
from attention_core.exercises.stages import stage_formula
from attention_core.exercises.worked_example import CheckedWork
from pages.lessons.sentences import show_sentence
from pages.lessons.worked_example import count_marked_numbers, is_step_right
from pages.panels.slips import show_met, show_slips
from pages.session.labels import current_palette


def show_step_verdict(checked: CheckedWork, step: str, slips: Mapping[str, StepSlips]) -> None:
    """Says how the step is made, how many of its numbers are right, and names the slips of all steps."""
    st.latex(stage_formula(checked.trace, step, current_palette().families()), width="content")
    progress = "done" if is_step_right(checked, step) else "still"
    show_sentence(f"lessons.check.{progress}", **count_marked_numbers(checked.marked[step]))
    show_met(checked, step)
    show_slips(checked, slips)
