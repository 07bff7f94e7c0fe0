"""Two sentences? One asks the other, and the other way round: the map turned over is not the answer."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.charts import PAGE
from attention_core.explanation.facts import farthest_from_whole, sums, transpose_gap
from attention_core.inputs.matrix_edits import turned_over
from attention_core.record.number_text import fixed
from pages.lessons.cross import drawers
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.pictures import SMALL, alike, map_shown, show_beside
from pages.lessons.prompts import predict
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose, pick_place, sentence_box
from pages.runs.cache import trace_of
from pages.session.labels import looked_at, place_names
from pages.setup.setup import Setup
from pages.site.words import say

ASKS = {"forward": "token", "backward": "word"}  # the control for the word that asks
GUESS = {"forward": "guess", "backward": "error"}  # and that for the row which is wrong

with lesson("cross") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        forward = sentence_box(sentence_box(Setup(example="cross_en_zh")), "context", "context_text")
        direction = choose("direction", ("forward", "backward"))
        backward = drawers.exchanged(forward)
        asked, other = (forward, backward) if direction == "forward" else (backward, forward)
        trace, back = trace_of(asked), trace_of(other)
        names, answers = (place_names(trace, axis, trace.sizes()[axis]) for axis in ("T", "S"))
        asked = replace(asked, token=pick_place(ASKS[direction], names, looked_at(trace, asked).query))
    look = looked_at(trace, asked)
    wrong = trace_of(replace(other, weights=turned_over(trace)))
    found = sums(wrong, "S")
    worst = farthest_from_whole(found)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        known = predict(answers, worst or {*range(len(answers))}, name=GUESS[direction])
    st.markdown(f"##### {fact_sentence(trace, look)}")
    kind, shown = ("back", back) if known else ("wrong", wrong)
    titles = say(f"lessons.cross.title_{direction}"), say(f"lessons.cross.{kind}")
    own = map_shown("asked", trace, look, titles[0], PAGE, SMALL)
    with st.container(horizontal=True):
        with st.container(width="content"):
            show_beside(*alike(own, map_shown("other", shown, look, titles[1], PAGE, SMALL, outlined=False)))
        if known:
            gaps = {step: fixed(transpose_gap(trace, back, step)) for step in ("scores", "weights")}
            turned = "lessons.cross.turned" if worst else "lessons.cross.turned_whole"
            with st.container(width=360):
                st.markdown(say(turned, sums=drawers.each(found, answers), **gaps))
    drawers.show_random_words(asked)
    stands_for(asked, place)
    writing = asked if direction == "forward" else forward  # English from Chinese
    about = {"lengths": asked, "decoder": asked, "context_vector": writing, "patches": asked}
    for name, setup in about.items():
        drawer(name, lambda name=name, setup=setup: getattr(drawers, name)(setup))
    code(trace, ("q", "k", "scores", "scaled_scores", "weights", "head_outputs", "output"))
