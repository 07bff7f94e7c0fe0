"""What does softmax do? The same numbers as shares of 1, at temperature 1 and at another."""

from dataclasses import replace

import streamlit as st

from attention_core.analysis.softmax_stages import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.explanation.facts import row_fact
from attention_core.inputs.given_scores import as_scores, read_logits
from attention_core.record.number_text import format_term
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import get_opened_cell, show_picture
from pages.lessons.prompts import show_goal
from pages.lessons.softmax import drawers
from pages.panels.link_controls import slide, text_box
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, picture_texts_for, spoken_share
from pages.setup.setup import Setup
from pages.site.words import say

MAX_TYPED_LOGITS = 16  # numbers that stand beside each other and can be read
SOFTMAX_TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
SOFTMAX_BARS_HEIGHT_PX = 62.0  # pixels: a field of bars, so that three rows and what is to be built stand on one screen
WANTED_SHARE = 0.98  # of the largest weight: what is to be built

with draw_lesson("softmax") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        numbers = read_logits(
            text_box("logits", "2, 1, 0, -1", lambda text: read_logits(text, MAX_TYPED_LOGITS)), MAX_TYPED_LOGITS
        )
        temperature = slide("temperature", SOFTMAX_TEMPERATURES, 1.0)
    usual = Setup(example="one_query", score="dot", **as_scores(numbers))
    setup = replace(usual, temperature=temperature)
    plain, trace = trace_for(usual), trace_for(setup)
    fact = row_fact(trace, 0, 0)
    told = {
        "T": format_term(temperature),
        "percent": spoken_share(fact.share, fact.rest),
        "ratio": f"{fact.ratio:.1f}",
        "count": len(numbers),
    }
    st.markdown(f"##### {say('lessons.softmax.fact', **told)}")
    runs = {"plain": plain, "now": trace}
    shares = {"plain": usual} if setup == usual else {"plain": usual, "now": setup}
    rows = [
        row_of(say("lessons.softmax.row_scores"), plain, "scores", (0, 0, 0), "plain"),
        *(
            row_of(
                say("lessons.softmax.row_weights", T=format_term(run.temperature)),
                runs[name],
                "weights",
                (0, 0, 0),
                name,
            )
            for name, run in shares.items()
        ),
    ]
    names = [format_term(float(number)) for number in numbers]
    picture = bar_rows(
        rows,
        names,
        picture_texts_for(trace),
        current_palette(),
        get_opened_cell("hero", runs),
        height=SOFTMAX_BARS_HEIGHT_PX,
    )
    show_picture("hero", picture, runs, say("lessons.softmax.alt"))
    show_goal(fact.share >= WANTED_SHARE, say("lessons.softmax.built", **told), say("lessons.softmax.build", **told))
    show_lesson_run(setup, place)
    drawer("stable", lambda: drawers.show_stable_softmax(numbers))
    drawer("slope", lambda: drawers.show_jacobian(setup))
    drawer("sharp", drawers.show_close_numbers)
    drawer("many", lambda: drawers.show_many_numbers(temperature))
    show_lesson_code(
        trace.then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX), ("weights", "exponentials", "naive_weights", "stable_exponentials")
    )
