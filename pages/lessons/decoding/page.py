"""How does a decoder go on? What each step computes with a cache of keys and values, and without one."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.cache_triangle import CacheTriangle, triangle_picture
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.record.number_text import format_grouped
from attention_core.variants.kv_cache import (
    STATE_ABSENT,
    STATE_AGAIN,
    STATE_COMPUTED,
    STATE_KEPT,
    cache_states,
    guess_key_counts,
    total_work,
    work_of_step,
)
from pages.lessons.decoding import drawers
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import get_opened_cell, show_picture
from pages.lessons.prompts import predict
from pages.panels import link_controls
from pages.panels.chart import show_chart
from pages.panels.link_controls import pick_example, sentence_box, slide
from pages.runs.cache import decoding_steps_for, trace_for
from pages.session.labels import current_palette, picture_texts_for, place_name, place_names, selection_of
from pages.site.words import escape_markdown, say

DECODED_LENGTHS = (16, 64, 256, 1024, 4096)
TRIANGLE_STATES = {
    "with": (STATE_COMPUTED, STATE_KEPT, STATE_ABSENT),
    "without": (STATE_COMPUTED, STATE_AGAIN, STATE_ABSENT),
}
STEP_BARS_HEIGHT_PX, STEP_BARS_WIDTH_PX, MAX_WORDS_BESIDE_BARS = (
    176.0,
    430.0,
    8,
)  # pixels: height of the step's weights, their width beside triangles of few words

with draw_lesson("decoding") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = replace(sentence_box(pick_example("en_it_causal", "zh_ta", zh="zh_ta")), masks=("causal",))
        trace = trace_for(setup)
        names = place_names(trace, "T", trace.sizes()["T"])
        t = slide("t", range(len(names)), selection_of(trace, setup).query, lambda at: names[at])
    setup = replace(setup, token=t)
    look, alone = selection_of(trace, setup), decoding_steps_for(setup)[t]
    now, again = work_of_step(t), work_of_step(t, cached=False)
    sums = {"with": total_work(again.keys).keys, "without": total_work(again.keys, cached=False).keys}
    told = {"word": escape_markdown(names[t]), "step": again.keys, "kept": now.read, "again": again.keys}
    st.markdown(f"##### {say('lessons.decoding.fact', **told)}")

    def said(step: int, token: int, state: str) -> str:
        """What a cell of the triangles is about."""
        return say("lessons.decoding.cell", step=names[step], token=names[token])

    def went(place: object) -> None:
        """A cell of the triangles was clicked: to its step."""
        match place:
            case {"index": [int(step), int()]} if step < len(names):
                link_controls.store_choice("t", step)

    with st.container(horizontal=True, gap="medium"):
        for kind, explained in TRIANGLE_STATES.items():
            title = say(f"lessons.decoding.{kind}", keys=sums[kind])
            drawn = CacheTriangle(title, cache_states(len(names), cached=kind == "with"))
            legend = {state: say(f"lessons.decoding.state.{state}") for state in explained}
            picture = triangle_picture(drawn, names, t, said, legend, current_palette())
            show_chart(picture, f"decoding_{kind}", say("lessons.decoding.alt", title=title), went)
        with st.container(width="content"):
            title = say("lessons.decoding.row", word=names[t], head=place_name(trace, "H", look.head))
            row = row_of(title, alone, "weights", (0, look.head, 0))
            runs = {"": alone}
            look_of = (picture_texts_for(alone), current_palette(), get_opened_cell("row", runs))
            room = STEP_BARS_WIDTH_PX if len(names) <= MAX_WORDS_BESIDE_BARS else PAGE_WIDTH_PX
            show_picture("row", bar_rows([row], names, *look_of, height=STEP_BARS_HEIGHT_PX, room=room), runs, title)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            length = slide("length", DECODED_LENGTHS, 256, format_grouped)
        counts = guess_key_counts(length)
        right = total_work(length, cached=False).keys
        known = predict([*map(format_grouped, counts)], {counts.index(right)})
    if known:
        told = {
            "length": format_grouped(length),
            "cached": format_grouped(total_work(length).keys),
            "again": format_grouped(right),
        }
        st.markdown(say("lessons.decoding.counted", **told))
    show_lesson_run(setup, place)
    for name in ("same", "size", "kept"):
        drawer(name, lambda name=name: getattr(drawers, f"show_{name}")(setup))
    show_lesson_code(alone, ("k", "k_new", "v", "scores", "weights", "head_outputs", "output"))
