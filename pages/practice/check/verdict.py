"""How the numbers of a step are judged."""

from collections.abc import Mapping

from attention_core.exercises.slips import StepSlips
from attention_core.exercises.worked_example import CheckedWork
from pages.lessons.sentences import show_sentence
from pages.lessons.worked_example import count_marked_numbers, is_step_right
from pages.panels.slips import show_met, show_slips


def show_step_verdict(checked: CheckedWork, step: str, slips: Mapping[str, StepSlips]) -> None:
    """Says how many numbers of the step are right, and names the slips of all steps."""
    progress = "done" if is_step_right(checked, step) else "still"
    show_sentence(f"lessons.check.{progress}", **count_marked_numbers(checked.marked[step]))
    show_met(checked, step)
    show_slips(checked, slips)
