"""Explanations of a learner's mistakes: the rule that gives the same wrong numbers, or the only wrong sum; also of
right numbers that do not follow from the earlier ones.
"""

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
    """Shows a sentence for each step with slips."""
    for step, slips in found.items():
        explanation = describe_slips(checked, slips)
        st.markdown(say("slips.step", step=inline_step_name(step), told=explanation))


def describe_slips(checked: CheckedWork, slips: StepSlips) -> str:
    """Text that explains the slips of a step."""
    if slips.wrong_sum is not None:
        return describe_wrong_sum(checked, slips.wrong_sum)
    count = len(slips.cells)
    if not slips.causes:
        first_place = describe_slip_place(checked, slips.cells[0])
        return say("slips.none", count=count, first=first_place)
    reasons = [say_cause(cause) for cause in slips.causes]
    if len(reasons) == 1:
        return say("slips.one", reason=reasons[0], count=count)
    listed_reasons = say("slips.or").join(reasons)
    return say("slips.either", reasons=listed_reasons, count=count)


def describe_wrong_sum(checked: CheckedWork, wrong: WrongSum) -> str:
    """Text about the only wrong number of a step, and about the mistake in its sum."""
    digits = checked.digits[wrong.cell.step]
    factors = [cell_text(factor, None) for factor in wrong.factors]
    mistake = say(f"slips.sum_{wrong.kind}", term=" × ".join(factors))
    return say(
        "slips.sum",
        place=describe_slip_place(checked, wrong.cell),
        how=mistake,
        written=cell_text(wrong.written, digits),
        own=cell_text(wrong.own, right_decimals(digits)),
    )


def show_met(checked: CheckedWork, step: str, named: bool = True) -> None:
    """Shows that some numbers of a step are right but do not follow from the earlier ones. named: whether to list
    these.
    """
    cells = checked.met(step)
    if not cells:
        return
    sentence = say("lessons.printed.met", count=len(cells))
    if named:
        places = [describe_slip_place(checked, cell) for cell in cells]
        sentence = say("lessons.printed.met_at", told=sentence, places=say("fact.comma").join(places))
    st.markdown(sentence)


def describe_slip_place(checked: CheckedWork, cell: Ref) -> str:
    """The position of a cell in its step in words; the head is omitted if there is only one."""
    trace = checked.trace
    has_one_head = trace.sizes()["H"] == 1
    names = []
    for axis, dim in cell_naming_axes(trace, cell.step):
        if dim == "H" and has_one_head:
            continue
        position = cell.index[axis]
        names.append(place_name(trace, dim, position))
    place = ", ".join(names)
    return escape_markdown(f"[{place}]")
