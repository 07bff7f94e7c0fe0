"""Two sentences? One asks the other, and the other way round: the map turned over is not the answer."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.facts import find_farthest_from_one, transpose_gap, weight_sums
from attention_core.inputs.matrix_edits import transpose_to_chosen
from attention_core.record.number_text import format_fixed
from pages.lessons.cross import drawers
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import SMALL_MAP_CELL_PX, equalize_sizes, make_weights_map, show_side_by_side
from pages.lessons.prompts import predict
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

ASKING_CONTROLS = {"forward": "token", "backward": "word"}  # the control for the word that asks
GUESS_CONTROLS = {"forward": "guess", "backward": "error"}  # and that for the row which is wrong

with draw_lesson("cross") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        forward = sentence_box(sentence_box(Setup(example="cross_en_zh")), "context", "context_text")
        direction = choose_option("direction", ("forward", "backward"))
        backward = drawers.swap_sentences(forward)
        asked, other = (forward, backward) if direction == "forward" else (backward, forward)
        trace, back = trace_for(asked), trace_for(other)
        names, answers = (place_names(trace, axis, trace.sizes()[axis]) for axis in ("T", "S"))
        asked = replace(asked, token=pick_place(ASKING_CONTROLS[direction], names, selection_of(trace, asked).query))
    look = selection_of(trace, asked)
    wrong = trace_for(replace(other, weights=transpose_to_chosen(trace)))
    found = weight_sums(wrong, "S")
    worst = find_farthest_from_one(found)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        known = predict(answers, worst or {*range(len(answers))}, name=GUESS_CONTROLS[direction])
    st.markdown(f"##### {fact_sentence(trace, look)}")
    kind, shown = ("back", back) if known else ("wrong", wrong)
    titles = say(f"lessons.cross.title_{direction}"), say(f"lessons.cross.{kind}")
    own = make_weights_map("asked", trace, look, titles[0], PAGE_WIDTH_PX, SMALL_MAP_CELL_PX)
    with st.container(horizontal=True):
        with st.container(width="content"):
            show_side_by_side(
                *equalize_sizes(
                    own,
                    make_weights_map("other", shown, look, titles[1], PAGE_WIDTH_PX, SMALL_MAP_CELL_PX, outlined=False),
                )
            )
        if known:
            gaps = {step: format_fixed(transpose_gap(trace, back, step)) for step in ("scores", "weights")}
            turned = "lessons.cross.turned" if worst else "lessons.cross.turned_whole"
            with st.container(width=360):
                st.markdown(say(turned, sums=drawers.join_sums(found, answers), **gaps))
    drawers.show_random_words(asked)
    show_lesson_run(asked, place)
    writing = asked if direction == "forward" else forward  # English from Chinese
    about = {"lengths": asked, "decoder": asked, "context_vector": writing, "patches": asked}
    for name, setup in about.items():
        drawer(name, lambda name=name, setup=setup: getattr(drawers, f"show_{name}")(setup))
    show_lesson_code(trace, ("q", "k", "scores", "scaled_scores", "weights", "head_outputs", "output"))
