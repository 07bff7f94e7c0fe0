"""What does softmax do? The same numbers as shares of 1, at temperature 1 and at another."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core.analysis.softmax_stages import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.drawing.bars import row_of
from attention_core.explanation.facts import row_fact
from attention_core.record.number_text import format_term
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import show_goal
from pages.lessons.softmax import drawers
from pages.lessons.softmax.given_numbers import ONLY_ROW, ask_for_numbers, setup_with_scores
from pages.panels.link_controls import slide
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share
from pages.site.words import say

SOFTMAX_TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
SOFTMAX_BARS_HEIGHT_PX = 62.0  # pixels: a field of bars, so that three rows and what is to be built stand on one screen
WANTED_SHARE = 0.98  # of the largest weight: what is to be built

with draw_lesson("softmax") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        numbers = ask_for_numbers("logits", "2, 1, 0, -1")
        temperature = slide("temperature", SOFTMAX_TEMPERATURES, 1.0)
    usual = setup_with_scores(numbers)
    setup = replace(usual, temperature=temperature)
    plain = trace_for(usual)
    trace = trace_for(setup)
    fact = row_fact(trace, 0, 0)
    values = {
        "T": format_term(temperature),
        "percent": spoken_share(fact.share, fact.rest),
        "ratio": f"{fact.ratio:.1f}",
        "count": len(numbers),
    }
    st.markdown(f"##### {say('lessons.softmax.fact', **values)}")
    runs = {"plain": plain, "now": trace}
    setups = {"plain": usual}
    if setup != usual:
        setups["now"] = setup
    rows = [row_of(say("lessons.softmax.row_scores"), plain, "scores", ONLY_ROW, "plain")]
    for name, run in setups.items():
        title = say("lessons.softmax.row_weights", T=format_term(run.temperature))
        rows.append(row_of(title, runs[name], "weights", ONLY_ROW, name))
    show_bar_rows(
        "hero",
        rows,
        [format_term(float(number)) for number in numbers],
        runs,
        trace,
        say("lessons.softmax.alt"),
        height=SOFTMAX_BARS_HEIGHT_PX,
    )
    show_goal(
        fact.share >= WANTED_SHARE,
        say("lessons.softmax.built", **values),
        say("lessons.softmax.build", **values),
    )
    show_lesson_run(setup, place)
    drawer("stable", partial(drawers.show_stable_softmax, numbers))
    drawer("slope", partial(drawers.show_jacobian, setup))
    drawer("sharp", drawers.show_close_numbers)
    drawer("many", partial(drawers.show_many_numbers, temperature))
    stages = trace.then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)
    show_lesson_code(stages, ("weights", "exponentials", "naive_weights", "stable_exponentials"))
