"""What does softmax do? The same numbers as shares of 1, at temperature 1 and at another."""

from dataclasses import replace

import streamlit as st

from attention_core.analysis.softmax_stages import NAIVE, STABLE
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.explanation.facts import row_fact
from attention_core.inputs.given_scores import as_scores, read_logits
from attention_core.record.number_text import percent, term
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.pictures import opened_in, show
from pages.lessons.prompts import goal
from pages.lessons.softmax import drawers
from pages.panels.link_controls import slide, text_box
from pages.runs.cache import trace_of
from pages.session.labels import palette, words_for
from pages.setup.setup import Setup
from pages.site.words import say

MOST = 16  # numbers that stand beside each other and can be read
TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
HEIGHT = 62.0  # pixels: a field of bars, so that three rows and what is to be built stand on one screen
WANTED = 0.98  # of the largest weight: what is to be built

with lesson("softmax") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        numbers = read_logits(text_box("logits", "2, 1, 0, -1", lambda text: read_logits(text, MOST)), MOST)
        temperature = slide("temperature", TEMPERATURES, 1.0)
    usual = Setup(example="one_query", score="dot", **as_scores(numbers))
    setup = replace(usual, temperature=temperature)
    plain, trace = trace_of(usual), trace_of(setup)
    fact = row_fact(trace, 0, 0)
    told = {"T": term(temperature), "percent": percent(fact.share), "ratio": f"{fact.ratio:.1f}", "count": len(numbers)}
    st.markdown(f"##### {say('lessons.softmax.fact', **told)}")
    runs = {"plain": plain, "now": trace}
    shares = {"plain": usual} if setup == usual else {"plain": usual, "now": setup}
    rows = [
        row_of(say("lessons.softmax.row_scores"), plain, "scores", (0, 0, 0), "plain"),
        *(
            row_of(say("lessons.softmax.row_weights", T=term(run.temperature)), runs[name], "weights", (0, 0, 0), name)
            for name, run in shares.items()
        ),
    ]
    names = [term(float(number)) for number in numbers]
    picture = bar_rows(rows, names, words_for(trace), palette(), opened_in("hero", runs), height=HEIGHT)
    show("hero", picture, runs, say("lessons.softmax.alt"))
    goal(fact.share >= WANTED, say("lessons.softmax.built", **told), say("lessons.softmax.build", **told))
    stands_for(setup, place)
    drawer("stable", lambda: drawers.stable(numbers))
    drawer("slope", lambda: drawers.slope(setup))
    drawer("sharp", drawers.sharp)
    drawer("many", lambda: drawers.many(temperature))
    code(trace.then(*NAIVE, *STABLE), ("weights", "exponentials", "naive_weights", "stable_exponentials"))
