"""How does a decoder go on? What each step computes with a cache of keys and values, and without one."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.cache_triangle import Triangle, triangle
from attention_core.drawing.charts import PAGE
from attention_core.record.number_text import grouped
from attention_core.variants.kv_cache import ABSENT, AGAIN, COMPUTED, KEPT, plausible_keys, states, work, work_of_step
from pages.lessons.decoding import drawers
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.pictures import opened_in, show
from pages.lessons.prompts import predict
from pages.panels import link_controls
from pages.panels.chart import chart
from pages.panels.link_controls import pick_example, sentence_box, slide
from pages.runs.cache import steps_of, trace_of
from pages.session.labels import looked_at, palette, place_name, place_names, words_for
from pages.site.words import literal, say

LENGTHS = (16, 64, 256, 1024, 4096)
LEGEND = {"with": (COMPUTED, KEPT, ABSENT), "without": (COMPUTED, AGAIN, ABSENT)}
BARS, BESIDE, FEW = 176.0, 430.0, 8  # pixels: height of the step's weights, their width beside triangles of few words

with lesson("decoding") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = replace(sentence_box(pick_example("en_it_causal", "zh_ta", zh="zh_ta")), masks=("causal",))
        trace = trace_of(setup)
        names = place_names(trace, "T", trace.sizes()["T"])
        t = slide("t", range(len(names)), looked_at(trace, setup).query, lambda at: names[at])
    setup = replace(setup, token=t)
    look, alone = looked_at(trace, setup), steps_of(setup)[t]
    now, again = work_of_step(t), work_of_step(t, cached=False)
    sums = {"with": work(again.keys).keys, "without": work(again.keys, cached=False).keys}
    told = {"word": literal(names[t]), "step": again.keys, "kept": now.read, "again": again.keys}
    st.markdown(f"##### {say('lessons.decoding.fact', **told)}")

    def said(step: int, token: int, state: str) -> str:
        """What a cell of the triangles is about."""
        return say("lessons.decoding.cell", step=names[step], token=names[token])

    def went(place: object) -> None:
        """A cell of the triangles was clicked: to its step."""
        match place:
            case {"index": [int(step), int()]} if step < len(names):
                link_controls.keep("t", step)

    with st.container(horizontal=True, gap="medium"):
        for kind, explained in LEGEND.items():
            title = say(f"lessons.decoding.{kind}", keys=sums[kind])
            drawn = Triangle(title, states(len(names), cached=kind == "with"))
            legend = {state: say(f"lessons.decoding.state.{state}") for state in explained}
            picture = triangle(drawn, names, t, said, legend, palette())
            chart(picture, f"decoding_{kind}", say("lessons.decoding.alt", title=title), went)
        with st.container(width="content"):
            title = say("lessons.decoding.row", word=names[t], head=place_name(trace, "H", look.head))
            row = row_of(title, alone, "weights", (0, look.head, 0))
            runs = {"": alone}
            look_of = (words_for(alone), palette(), opened_in("row", runs))
            room = BESIDE if len(names) <= FEW else PAGE
            show("row", bar_rows([row], names, *look_of, height=BARS, room=room), runs, title)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            length = slide("length", LENGTHS, 256, grouped)
        counts = plausible_keys(length)
        right = work(length, cached=False).keys
        known = predict([*map(grouped, counts)], {counts.index(right)})
    if known:
        told = {"length": grouped(length), "cached": grouped(work(length).keys), "again": grouped(right)}
        st.markdown(say("lessons.decoding.counted", **told))
    stands_for(setup, place)
    for name in ("same", "size", "kept"):
        drawer(name, lambda name=name: getattr(drawers, name)(setup))
    code(alone, ("k", "k_new", "v", "scores", "weights", "head_outputs", "output"))
