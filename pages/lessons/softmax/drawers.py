"""Lesson 2, further sights: the largest taken away, the slope, when nothing sharpens, a hundred numbers."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_stages import NAIVE, STABLE
from attention_core.comparison.distances import apart
from attention_core.drawing.bars import Row, bar_rows, row_of
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import row_fact
from attention_core.inputs.given_scores import as_scores, read_logits
from attention_core.record.expressions import Ref
from attention_core.record.number_text import exact, fixed, percent, term
from attention_core.verification.proof import overflow
from pages.export.doors import workbench_door
from pages.lessons.pictures import opened_in, show, show_step
from pages.panels.link_controls import choose, pick_place, slide, text_box
from pages.runs.cache import trace_of
from pages.session.labels import Look, palette, words_for
from pages.setup.setup import DTYPES, Setup
from pages.site.words import literal, say

FIRST = Look(0, 0, 0, 0)
ROW = (0, 0, 0)  # the only sentence, head and query
MOST_MANY = 100
LARGE = {"thousand": "1001, 1002, 1003", "tens": "10000, 9999.21875, 0, -10000"}
SHIFTS = (0, 1, 10, 100, 500, 1000)


def as_run(numbers: Sequence[float], shift: float = 0.0, **choices) -> Setup:
    """The Setup whose scores these numbers are."""
    return Setup(example="one_query", score="dot", **as_scores(numbers, shift), **choices)


def rows_of(name: str, rows: list[Row], names: list[str], trace: Trace, alt: str) -> None:
    """Rows of bars of one run."""
    runs = {"": trace}
    show(name, bar_rows(rows, names, words_for(trace), palette(), opened_in(name, runs)), runs, alt)


def stable(own: Sequence[float]) -> None:
    """The softmax as it is written, and with the largest number taken away first."""
    kind = choose("numbers", (*LARGE, "own"))
    row = read_logits(LARGE[kind], 16) if kind in LARGE else own
    with st.columns(2)[0]:
        shift = slide("shift", SHIFTS, 0)
    dtype = choose("dtype", DTYPES, words=lambda name: say(f"dtype.{name}"))
    setup = as_run(row, shift, dtype=dtype)
    trace = trace_of(setup).then(*NAIVE, *STABLE)
    broken = overflow(trace)
    told = {"dtype": dtype, "shift": shift}
    told["gap"] = exact(apart(trace["weights"], trace_of(replace(as_run(row), dtype=dtype))["weights"]).max().item())
    st.markdown(say("lessons.softmax.overflows" if broken else "lessons.softmax.holds", **told))
    shares = trace["stable_weights"]
    if zeros := int(shares.eq(0).sum()):
        st.markdown(say("lessons.softmax.underflows", dtype=dtype, zeros=zeros, count=shares.numel()))
    st.markdown(say("lessons.softmax.shifted", **told))
    for step in ("naive_weights", "stable_weights"):
        show_step(step, trace, step, FIRST)
    workbench_door(setup, "stable")


def slope(setup: Setup) -> None:
    """The Jacobian: how far each weight moves when one score moves."""
    trace = with_jacobian(trace_of(setup))
    count = trace.sizes()["S"]
    numbers = [term(number) for number in trace.step("scores").window(B=0, H=0, T=0)]
    moved = pick_place("moved", numbers, 0, width=240)
    own = trace["jacobian"][(*ROW, moved, moved)].item()
    st.markdown(say("lessons.softmax.slope", score=numbers[moved], own=fixed(own, 3)))
    column = [Ref("jacobian", (*ROW, at, moved)) for at in range(count)]
    title = say("lessons.softmax.row_slope", score=numbers[moved])
    rows_of("column", [Row(title, trace, column)], numbers, trace, say("step.alt", step="jacobian"))
    show_step("jacobian", trace, "jacobian", FIRST)


def sharp() -> None:
    """Two numbers close together: the softmax leaves them as even as they were."""
    text = text_box("close", "0, 0.1", lambda text: read_logits(text, 16))
    setup = as_run(read_logits(text, 16))
    trace = trace_of(setup)
    fact, names = row_fact(trace, 0, 0), [term(number) for number in trace.step("scores").window(B=0, H=0, T=0)]
    told = {"share": fixed(fact.share, 3), "even": fixed(fact.even, 3), "ratio": fixed(fact.ratio)}
    st.markdown(say("lessons.softmax.sharp", **told))
    rows = [row_of(say("lessons.softmax.row_weights", T="1"), trace, "weights", ROW, digits=3)]
    rows_of("close", rows, names, trace, say("lessons.softmax.alt"))
    workbench_door(setup, "sharp")


def many(temperature: float) -> None:
    """The hundred numbers of lecture notes 001, or the first of them."""
    count = slide("count", (5, 10, 20, 50, MOST_MANY), MOST_MANY)
    numbers = EXAMPLES["softmax_100"].tensor("k")[:count, 0].numpy()
    whole = Setup(example="softmax_100", temperature=temperature)
    setup = whole if count == MOST_MANY else replace(as_run(numbers), temperature=temperature)
    trace = trace_of(setup)
    fact, total = row_fact(trace, 0, 0), trace["weights"].sum().item()
    told = {"count": count, "percent": percent(fact.share), "even": percent(fact.even), "total": fixed(total, 6)}
    st.markdown(say("lessons.softmax.many", key=literal(term(numbers[fact.keys[0]])), **told))
    rows = [
        row_of(say(f"lessons.softmax.row_{step}", T=term(temperature)), trace, step, ROW)
        for step in ("scores", "weights")
    ]
    rows_of("many", rows, ["" for _ in numbers], trace, say("lessons.softmax.alt"))
    workbench_door(setup, "many")
