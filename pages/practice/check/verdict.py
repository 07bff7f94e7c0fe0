"""The verdict on the numbers that were entered for a step."""

from collections.abc import Mapping

import streamlit as st

from attention_core.exercises.slips import StepSlips
from attention_core.exercises.stages import stage_formula
from attention_core.exercises.worked_example import CheckedWork
from pages.lessons.sentences import show_sentence
from pages.lessons.worked_example import count_marked_numbers, is_step_right
from pages.panels.slips import show_met, show_slips
from pages.session.labels import current_palette, formula_names
from pages.site.words import say

KINDS_OF_NUMBERS = ("right", "slip", "followed", "blank")


def tell_marks(counts: Mapping[str, int]) -> str:
    """How many numbers have each mark, in words; marks that no number has are left out."""
    told = [say(f"lessons.check.tally.{kind}", count=counts[kind]) for kind in KINDS_OF_NUMBERS if counts[kind]]
    return say("fact.comma").join(told)


def show_step_verdict(checked: CheckedWork, step: str, slips: Mapping[str, StepSlips]) -> None:
    """Shows the step's formula, how many of its numbers are right, and the slips of all steps."""
    colours, names = current_palette().families(), formula_names(checked.trace)
    st.latex(stage_formula(checked.trace, step, colours, names), width="content")
    counts = count_marked_numbers(checked.marked[step])
    if is_step_right(checked, step):
        show_sentence("lessons.check.done", **counts)
    elif not counts["count"]:
        show_sentence("lessons.check.untouched", count=counts["blank"])
    else:
        show_sentence("lessons.check.still", count=counts["count"] + counts["blank"], told=tell_marks(counts))
    show_met(checked, step)
    show_slips(checked, slips)
