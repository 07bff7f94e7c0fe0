"""Where is a token? The same words with positions and without, and a dial that says how far a head looks."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.explanation.facts import looks_at
from attention_core.record.number_text import fixed, term
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.pictures import heads_shown, rows_shown, show_beside
from pages.lessons.positions import drawers
from pages.lessons.prompts import goal
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose, pick_example, pick_place, sentence_box, slide
from pages.runs.cache import trace_of
from pages.session.labels import looked_at, place_names, token
from pages.session.reveal import revealed
from pages.site.words import literal, say

SIDE = 34  # pixels: a cell of a map, so that everything stands on one screen
BUILT = -8  # W_q[one, 0] as it was built: head 1 looks at the word before

with lesson("positions") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        built = replace(sentence_box(pick_example("en_colour", "zh_colour", zh="zh_colour")), head=0)
        names = place_names(trace_of(built), "T", trace_of(built).sizes()["T"])
        built = replace(built, token=pick_place("token", names, len(names[1:])))  # the last one
        there = choose("positions", ("with", "without"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=420):
            dial = slide("dial", range(-16, 17, 4), BUILT, term)
        setup = replace(
            built,
            wiring=() if there == "with" else ("bare",),
            w_q=None if dial == BUILT else f"~3.0={dial}",
        )
        trace = trace_of(setup)
        with st.container(width="content"):
            answer = say("lessons.positions.answer") if revealed() else ""
            goal(looks_at(trace, 0, 1), say("lessons.positions.done"), say("lessons.positions.still", answer=answer))
    look, colour = looked_at(trace, setup), trace.labels["D_out"].index("colour")
    number = fixed(float(trace["output"][0, look.query, colour]))
    told = {"fact": fact_sentence(trace, look), "word": literal(token(trace, "T", look.query)), "number": number}
    st.markdown(f"##### {say('lessons.positions.came', **told)}")
    rows = [
        column_of(say("lessons.positions.own"), trace, "x", (0,), colour),
        column_of(say(f"lessons.positions.after_{there}"), trace, "output", (0,), colour),
    ]
    hero = rows_shown("hero", rows, names, {"": trace}, trace, colour_rows, looked=look.query)
    show_beside(hero, *heads_shown(trace, setup, look, SIDE))
    stands_for(setup, place)
    for name in ("order", "sines", "distance", "parts"):
        drawer(name, lambda name=name: getattr(drawers, name)(built))
    code(trace, ("q", "scores", "weights", "head_outputs", "output"))
