"""Where is a token? The same words with positions and without, and a dial that says how far a head looks."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.explanation.facts import attends_at_offset
from attention_core.record.number_text import format_fixed, format_term
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import make_cell_rows, make_head_maps, show_side_by_side
from pages.lessons.positions.drawers import DRAWERS
from pages.lessons.prompts import show_goal
from pages.lessons.sentences import list_place_names, quote_token
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box, slide
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.session.reveal import are_answers_revealed
from pages.site.words import say

POSITIONS_MAP_CELL_PX = 34  # pixels: a cell of a map, so that everything stands on one screen
BUILT_DIAL = -8  # W_q[one, 0] as it was built: head 1 looks at the word before
REACHES = ("−2", "−1.5", "−1", "−0.5", "0", "+0.5", "+1", "+1.5", "+2")  # in words: −1 is the word before
REACH_OF_DIAL = dict(zip(range(-16, 17, 4), REACHES, strict=True))

with draw_lesson("positions") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        built = sentence_box(pick_example("en_colour", "zh_colour", zh="zh_colour"))
        built = replace(built, head=0)
        names = list_place_names(trace_for(built), "T")
        built = replace(built, token=pick_place("token", names, len(names) - 1))
        with_or_without = choose_option("positions", ("with", "without"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=420):
            dial = slide("dial", tuple(REACH_OF_DIAL), BUILT_DIAL, REACH_OF_DIAL.__getitem__)
            st.caption(say("lessons.positions.entry", number=format_term(dial)))
        wiring = () if with_or_without == "with" else ("bare",)
        w_q = None if dial == BUILT_DIAL else f"~3.0={dial}"
        setup = replace(built, wiring=wiring, w_q=w_q)
        trace = trace_for(setup)
        with st.container(width="content"):
            answer = say("lessons.positions.answer") if are_answers_revealed() else ""
            show_goal(
                attends_at_offset(trace, 0, 1),
                say("lessons.positions.done"),
                say("lessons.positions.still", answer=answer),
            )
    selection = selection_of(trace, setup)
    colour = trace.labels["D_out"].index("colour")
    number = trace["output"][0, selection.query, colour]
    came = say(
        "lessons.positions.came",
        fact=fact_sentence(trace, selection),
        word=quote_token(trace, "T", selection.query),
        number=format_fixed(float(number)),
    )
    st.markdown(f"##### {came}")
    own = say("lessons.positions.own")
    after = say(f"lessons.positions.after_{with_or_without}")
    rows = [
        column_of(own, trace, "x", (0,), colour),
        column_of(after, trace, "output", (0,), colour),
    ]
    hero = make_cell_rows("hero", rows, names, {"": trace}, trace, colour_rows, looked=selection.query)
    show_side_by_side(hero, *make_head_maps(trace, setup, selection, POSITIONS_MAP_CELL_PX))
    show_lesson_run(setup, place)
    for name, show in DRAWERS.items():
        drawer(name, partial(show, built))
    show_lesson_code(trace, ("q", "scores", "weights", "head_outputs", "output"))
