"""What does one word take from the others? The same row without projections and with them."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import get_opened_cell, show_picture
from pages.lessons.prompts import predict
from pages.lessons.qkv import drawers
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, picture_texts_for, place_name, place_names, selection_of
from pages.site.words import say

WITHOUT_PROJECTIONS = {"w_q": "none", "w_k": "none", "w_v": "none", "w_o": "none", "heads": 1, "scale": 1.0}

with draw_lesson("qkv") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        projected = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_for(projected)
        names = place_names(trace, "T", trace.sizes()["T"])
        projected = replace(projected, token=pick_place("token", names, selection_of(trace, projected).query))
        shown = choose_option("words", ("without", "with"))
    bare = replace(projected, **WITHOUT_PROJECTIONS)
    look, plain = selection_of(trace, projected), trace_for(bare)
    row = trace.step("weights").window(B=0, H=look.head, T=look.query)
    known = predict(names, {int(row.argmax())}) or shown == "with"
    rows = [
        row_of(say("lessons.qkv.row_without", word=names[look.query]), plain, "weights", (0, 0, look.query), "bare"),
        row_of(
            say("lessons.qkv.row_with", word=names[look.query], head=place_name(trace, "H", look.head)),
            trace,
            "weights",
            (0, look.head, look.query),
            "projected",
            hidden=not known,
        ),
    ]
    seen, run = (projected, trace) if known else (bare, plain)
    st.markdown(f"##### {fact_sentence(run, selection_of(run, seen))}")
    runs = {"bare": plain, "projected": trace}
    picture = bar_rows(rows, names, picture_texts_for(trace), current_palette(), get_opened_cell("hero", runs))
    show_picture("hero", picture, runs, say("lessons.qkv.alt"))
    show_lesson_run(seen, place)
    for name in ("change", "shapes", "roles", "row"):
        drawer(name, lambda name=name: getattr(drawers, f"show_{name}")(projected))
    show_lesson_code(
        trace, ("q_projected", "q", "scores", "scaled_scores", "weights", "head_outputs", "concat", "output")
    )
