"""What rounding does to every number of a run, and which numbers a precision cannot hold."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.comparison.differences import find_moves
from attention_core.drawing.charts import single_picture
from attention_core.explanation.layout import panel
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_small
from attention_core.verification.precision import (
    PRECISIONS,
    largest_finite_number,
    precision_errors,
    run_in_precision,
    with_queries_scaled_first,
)
from attention_core.verification.proof import find_overflow
from pages.export.page_links import link_to_workbench
from pages.lessons.cost.precision_setups import choose_own_setup, make_overflowing_setup
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import show_picture
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option, option_labels, switch
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, describe_cell, picture_texts_for, selection_of
from pages.site.words import escape_markdown, say, say_refusal

PRECISION_STEPS = ("scores", "scaled_scores", "weights", "output")


def show_rounded_run() -> None:
    """Shows what rounding does to every number of a step, and the first cell of the run that overflows."""
    with st.container(horizontal=True):
        case = choose_option("case", ("own", "built"))
        dtype = choose_option("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    setup = choose_own_setup() if case == "own" else make_overflowing_setup()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = choose_option("shown", PRECISION_STEPS, "weights")
        scaled_first = switch("first")
    try:
        run = trace_for(setup)
        if scaled_first:
            run = with_queries_scaled_first(run)
        low = run_in_precision(run, PRECISIONS[dtype])
        exact = run_in_precision(run, PRECISIONS["float64"])
    except AttentionError as refusal:
        st.error(say_refusal(refusal), icon=":material/error:")
        return
    say_lost_precision(low, exact, dtype, step)
    errors = precision_errors(run, PRECISIONS[dtype])
    title = say("lessons.cost.errors", dtype=dtype, step=option_labels("shown")(step))
    show_precision_errors(low, errors, step, selection_of(run, setup), title)
    link_to_workbench(replace(setup, dtype=dtype), "precision")


def say_lost_precision(low: Trace, exact: Trace, dtype: str, step: str) -> None:
    """Says which number a precision cannot hold; where it holds all, the largest error of a step.

    low: the run in that precision; exact: the same run in float64."""
    overflow = find_overflow(low)
    if overflow is not None:
        say_overflow(Ref(*overflow), low, exact, dtype)
        return
    shown = option_labels("shown")(step)
    moved = find_moves(low, exact)
    if step not in moved:
        show_sentence("lessons.cost.exact", dtype=dtype, step=shown)
        return
    largest = moved[step]
    cell = describe_cell(low, Ref(step, largest.index))
    show_sentence(
        "lessons.cost.rounded",
        dtype=dtype,
        step=shown,
        size=format_small(largest.size),
        cell=escape_markdown(cell),
    )


def say_overflow(cell: Ref, low: Trace, exact: Trace, dtype: str) -> None:
    """Says which number of a cell a precision cannot hold, and the largest that it can."""
    number = exact[cell.step][cell.index].item()
    limit = largest_finite_number(dtype)
    show_sentence(
        "lessons.cost.lost",
        dtype=dtype,
        number=format_exact(number),
        limit=format_exact(limit),
        cell=escape_markdown(describe_cell(low, cell)),
    )


def show_precision_errors(low: Trace, errors: Trace, step: str, selection: Selection, title: str) -> None:
    """Shows how far each number of a step is from float64; a click opens the number itself, in its precision."""
    name = "errors"
    picture = single_picture(
        [panel(errors, step, selection.at)],
        errors,
        picture_texts_for(low),
        current_palette(),
        [title],
        get_opened_ref(name, low),
    )
    show_picture(name, picture, {"": low}, title)
