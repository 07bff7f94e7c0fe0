"""What was done wrong, in words: the mistake that gives a learner's numbers, or the one wrong sum; and what is right
without following from the numbers before it."""

from collections.abc import Mapping

import streamlit as st

from attention_core.exercises.answer_text import cell_text, right_decimals
from attention_core.exercises.slips import StepSlips
from attention_core.exercises.worked_example import CheckedWork
from attention_core.exercises.wrong_sum import WrongSum
from attention_core.record.expressions import Ref
from pages.session.labels import cell_naming_axes, inline_step_name, place_name
from pages.site.words import escape_markdown, say, say_cause


def show_slips(checked: CheckedWork, found: Mapping[str, StepSlips]) -> None:
    """A sentence for each step that holds slips."""
    for step, each in found.items():
        st.markdown(say("slips.step", step=inline_step_name(step), told=describe_slips(checked, each)))


def describe_slips(checked: CheckedWork, each: StepSlips) -> str:
    """What explains the slips of a step."""
    if each.wrong_sum is not None:
        return describe_wrong_sum(checked, each.wrong_sum)
    if not each.causes:
        return say("slips.none", count=len(each.cells), first=describe_slip_place(checked, each.cells[0]))
    reasons = [say_cause(cause) for cause in each.causes]
    if len(reasons) == 1:
        return say("slips.one", reason=reasons[0], count=len(each.cells))
    return say("slips.either", reasons=say("slips.or").join(reasons), count=len(each.cells))


def describe_wrong_sum(checked: CheckedWork, wrong: WrongSum) -> str:
    """The one wrong number of a step, and what was done with its terms."""
    digits = checked.digits[wrong.cell.step]
    numbers = {"written": cell_text(wrong.written, digits), "own": cell_text(wrong.own, right_decimals(digits))}
    term = " × ".join(cell_text(factor, None) for factor in wrong.factors)
    how = say(f"slips.sum_{wrong.kind}", term=term)
    return say("slips.sum", place=describe_slip_place(checked, wrong.cell), how=how, **numbers)


def show_met(checked: CheckedWork, step: str, named: bool = True) -> None:
    """That some numbers of a step are right and do not follow from those before them. named: also which."""
    cells = checked.met(step)
    if not cells:
        return
    told = say("lessons.printed.met", count=len(cells))
    places = say("fact.comma").join(describe_slip_place(checked, cell) for cell in cells)
    st.markdown(say("lessons.printed.met_at", told=told, places=places) if named else told)


def describe_slip_place(checked: CheckedWork, cell: Ref) -> str:
    """Where a cell stands in its step; a single head is not named."""
    trace, axes = checked.trace, cell_naming_axes(checked.trace, cell.step)
    named = [(axis, dim) for axis, dim in axes if not (dim == "H" and trace.sizes()["H"] == 1)]
    return escape_markdown(f"[{', '.join(place_name(trace, dim, cell.index[axis]) for axis, dim in named)}]")
