"""Lesson 2, further sights: the largest taken away, the slope, when nothing sharpens, a hundred numbers."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_stages import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.bars import Row, bar_rows, row_of
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import row_fact
from attention_core.inputs.given_scores import as_scores, read_logits
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed, format_percent, format_term
from attention_core.verification.proof import find_overflow
from pages.export.doors import workbench_door
from pages.lessons.pictures import get_opened_cell, show_picture, show_step_picture
from pages.panels.link_controls import choose_option, pick_place, slide, text_box
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, picture_texts_for, spoken_share
from pages.setup.setup import DTYPES, Setup
from pages.site.words import escape_markdown, say

FIRST_SELECTION = Selection(0, 0, 0, 0)
ONLY_ROW = (0, 0, 0)  # the only sentence, head and query
MAX_SHOWN_NUMBERS = 100
LARGE_NUMBERS = {"thousand": "1001, 1002, 1003", "tens": "10000, 9999.21875, 0, -10000"}
NUMBER_SHIFTS = (0, 1, 10, 100, 500, 1000)


def setup_with_scores(numbers: Sequence[float], shift: float = 0.0, **choices) -> Setup:
    """The Setup whose scores these numbers are."""
    return Setup(example="one_query", score="dot", **as_scores(numbers, shift), **choices)


def show_bar_rows(name: str, rows: list[Row], names: list[str], trace: Trace, alt: str) -> None:
    """Rows of bars of one run."""
    runs = {"": trace}
    show_picture(
        name, bar_rows(rows, names, picture_texts_for(trace), current_palette(), get_opened_cell(name, runs)), runs, alt
    )


def show_stable_softmax(own: Sequence[float]) -> None:
    """The softmax as it is written, and with the largest number taken away first."""
    kind = choose_option("numbers", (*LARGE_NUMBERS, "own"))
    row = read_logits(LARGE_NUMBERS[kind], 16) if kind in LARGE_NUMBERS else own
    with st.columns(2)[0]:
        shift = slide("shift", NUMBER_SHIFTS, 0)
    dtype = choose_option("dtype", DTYPES, words=lambda name: say(f"dtype.{name}"))
    setup = setup_with_scores(row, shift, dtype=dtype)
    trace = trace_for(setup).then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)
    broken = find_overflow(trace)
    told = {"dtype": dtype, "shift": shift}
    told["gap"] = format_exact(
        abs_difference(trace["weights"], trace_for(replace(setup_with_scores(row), dtype=dtype))["weights"])
        .max()
        .item()
    )
    st.markdown(say("lessons.softmax.overflows" if broken else "lessons.softmax.holds", **told))
    shares = trace["stable_weights"]
    if zeros := int(shares.eq(0).sum()):
        st.markdown(say("lessons.softmax.underflows", dtype=dtype, zeros=zeros, count=shares.numel()))
    st.markdown(say("lessons.softmax.shifted", **told))
    for step in ("naive_weights", "stable_weights"):
        show_step_picture(step, trace, step, FIRST_SELECTION)
    workbench_door(setup, "stable")


def show_jacobian(setup: Setup) -> None:
    """The Jacobian: how far each weight moves when one score moves."""
    trace = with_jacobian(trace_for(setup))
    count = trace.sizes()["S"]
    numbers = [format_term(number) for number in trace.step("scores").window(B=0, H=0, T=0)]
    moved = pick_place("moved", numbers, 0, width=240)
    own = trace["jacobian"][(*ONLY_ROW, moved, moved)].item()
    st.markdown(say("lessons.softmax.slope", score=numbers[moved], own=format_fixed(own, 3)))
    column = [Ref("jacobian", (*ONLY_ROW, at, moved)) for at in range(count)]
    title = say("lessons.softmax.row_slope", score=numbers[moved])
    show_bar_rows("column", [Row(title, trace, column)], numbers, trace, say("step.alt", step="jacobian"))
    show_step_picture("jacobian", trace, "jacobian", FIRST_SELECTION)


def show_close_numbers() -> None:
    """Two numbers close together: the softmax leaves them as even as they were."""
    text = text_box("close", "0, 0.1", lambda text: read_logits(text, 16))
    setup = setup_with_scores(read_logits(text, 16))
    trace = trace_for(setup)
    fact, names = row_fact(trace, 0, 0), [format_term(number) for number in trace.step("scores").window(B=0, H=0, T=0)]
    told = {"share": format_fixed(fact.share, 3), "even": format_fixed(fact.even, 3), "ratio": format_fixed(fact.ratio)}
    st.markdown(say("lessons.softmax.sharp", **told))
    rows = [row_of(say("lessons.softmax.row_weights", T="1"), trace, "weights", ONLY_ROW, digits=3)]
    show_bar_rows("close", rows, names, trace, say("lessons.softmax.alt"))
    workbench_door(setup, "sharp")


def show_many_numbers(temperature: float) -> None:
    """The hundred numbers of lecture notes 001, or the first of them."""
    count = slide("count", (5, 10, 20, 50, MAX_SHOWN_NUMBERS), MAX_SHOWN_NUMBERS)
    numbers = EXAMPLES["softmax_100"].tensor("k")[:count, 0].numpy()
    whole = Setup(example="softmax_100", temperature=temperature)
    setup = whole if count == MAX_SHOWN_NUMBERS else replace(setup_with_scores(numbers), temperature=temperature)
    trace = trace_for(setup)
    fact, total = row_fact(trace, 0, 0), trace["weights"].sum().item()
    told = {
        "count": count,
        "percent": spoken_share(fact.share, fact.rest),
        "even": format_percent(fact.even),
        "total": format_fixed(total, 6),
    }
    st.markdown(say("lessons.softmax.many", key=escape_markdown(format_term(numbers[fact.keys[0]])), **told))
    rows = [
        row_of(say(f"lessons.softmax.row_{step}", T=format_term(temperature)), trace, step, ONLY_ROW)
        for step in ("scores", "weights")
    ]
    show_bar_rows("many", rows, ["" for _ in numbers], trace, say("lessons.softmax.alt"))
    workbench_door(setup, "many")
