"""Shows a layer with one wrong line of code: its numbers beside the right ones, and both attention maps."""

from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.exercises.bugs import Bug, find_most_wrong_cell, row_ratio
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.verification.causes import Cause
from pages.lessons.opened_cell import get_opened_cell, get_opened_ref
from pages.lessons.pictures import (
    RunPicture,
    equalize_sizes,
    make_weights_map,
    show_run_picture,
    show_side_by_side,
)
from pages.lessons.sentences import quote_token
from pages.panels.step_picture import make_step_picture
from pages.practice.bugs.code_lines import format_bug_diff, look_control
from pages.runs.cache import trace_for
from pages.session.labels import Selection, describe_cell
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_cause

BESIDE_CODE_PX = (456.0, 440.0)  # width and height in pixels of a picture that fits beside the code without scrolling
BUG_MAP_CELL_PX = 34.0  # px: largest side of a cell of an attention map beside the code


# ---- pictures of the broken layer ------------------------------------------------------------------------------------
def show_broken_step(broken: Trace, selection: Selection) -> None:
    """Shows the step that the visitor selected, with the numbers of the broken layer (the one with the wrong line)."""
    step = look_control().value
    if step == "weights":
        show_broken_picture(broken, make_bug_map("weights", broken, selection, "theirs"))
        return
    opened = get_opened_ref("step", broken)
    picture = make_step_picture(broken, step, selection.at, opened, room=BESIDE_CODE_PX)
    show_broken_picture(broken, RunPicture("step", picture, {"": broken}, say("step.alt", step=step)))


def make_bug_map(name: str, trace: Trace, selection: Selection, title: str) -> RunPicture:
    """Returns the attention map of the selected head; no row is outlined, because rows of the broken layer need not sum
    to 1.
    """
    return make_weights_map(
        name,
        trace,
        selection,
        say(f"lessons.bugs.{title}"),
        most=BUG_MAP_CELL_PX,
        outlined=False,
    )


def show_broken_picture(broken: Trace, shown: RunPicture) -> None:
    """Shows a picture of the broken layer; a click on a number opens the arithmetic that would be right there.

    The arithmetic uses the inputs of the cell's step, which may be wrong themselves.
    """
    run = broken
    opened = get_opened_cell(shown.name, {"": broken})
    if opened is not None:
        _, cell = opened
        run = recompute_cell_step(broken, cell)
    recomputed = RunPicture(
        shown.name,
        shown.picture,
        {"": run},
        shown.alt,
        show_above=partial(show_bug_verdict, broken),
    )
    show_run_picture(recomputed)


# ---- a number and its correct value ----------------------------------------------------------------------------------
def recompute_cell_step(broken: Trace, cell: Ref) -> Trace:
    """Returns the broken layer's run with the step of a cell computed by the right code, but from the broken layer's
    operands.

    Returns the run unchanged if the cell belongs to an input.
    """
    if broken.step(cell.step).operation is None:
        return broken
    return broken.holding({cell.step: broken.reapply(cell.step)})


def get_made_and_right(broken: Trace, cell: Ref) -> tuple[float, float]:
    """Returns the broken layer's value in a cell, and the value that correct code computes from the same operands."""
    step, index = cell.step, cell.index
    recomputed = recompute_cell_step(broken, cell)
    made = broken[step][index].item()
    right = recomputed[step][index].item()
    return made, right


def show_bug_verdict(broken: Trace, _run: str, cell: Ref) -> None:
    """Shows the broken layer's value of a cell, and the right value; shows nothing for an input's cell."""
    if broken.step(cell.step).operation is None:
        return
    made, right = get_made_and_right(broken, cell)
    verdict = say(
        "lessons.bugs.verdict",
        made=format_exact(made),
        right=format_exact(right),
    )
    st.markdown(verdict)


# ---- the answer ------------------------------------------------------------------------------------------------------
def show_wrong_line(bug: Bug, broken: Trace, selection: Selection) -> None:
    """Shows the wrong line as a diff, its effect, and how the numbers reveal it."""
    st.code(format_bug_diff(bug), language="diff")
    cause = Cause(bug.code, ())
    st.markdown(say("lessons.bugs.cause", reason=say_cause(cause)))
    st.markdown(describe_sign(bug, broken, selection))


def show_both_maps(setup: Setup, broken: Trace, selection: Selection) -> None:
    """Shows the broken layer's attention map beside the correct layer's."""
    maps = equalize_sizes(
        make_bug_map("theirs", broken, selection, "theirs"),
        make_bug_map("ours", trace_for(setup), selection, "ours"),
    )
    show_side_by_side(*maps)


def describe_sign(bug: Bug, broken: Trace, selection: Selection) -> str:
    """Returns the sentence that says how the numbers reveal a bug."""
    row = row_ratio(broken, selection.batch, selection.head, selection.query)
    wrong = find_most_wrong_cell(broken, "scores")
    made, right = get_made_and_right(broken, wrong)
    return say(
        f"lessons.bugs.sign.{bug.code}",
        ratio=f"{row.ratio:,.0f}",
        log=format_fixed(row.log),
        gap=format_fixed(row.gap),
        head=selection.head + 1,
        word=quote_token(broken, "T", selection.query),
        place=escape_markdown(describe_cell(broken, wrong)),
        made=format_fixed(made),
        right=format_fixed(right),
    )
