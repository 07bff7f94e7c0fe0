"""What does one word take from the others? The same row without projections and with them."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.pictures import opened_in, show
from pages.lessons.prompts import predict
from pages.lessons.qkv import drawers
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_of
from pages.session.labels import looked_at, palette, place_name, place_names, words_for
from pages.site.words import say

WITHOUT = {"w_q": "none", "w_k": "none", "w_v": "none", "w_o": "none", "heads": 1, "scale": 1.0}

with lesson("qkv") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        projected = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_of(projected)
        names = place_names(trace, "T", trace.sizes()["T"])
        projected = replace(projected, token=pick_place("token", names, looked_at(trace, projected).query))
        shown = choose("words", ("without", "with"))
    bare = replace(projected, **WITHOUT)
    look, plain = looked_at(trace, projected), trace_of(bare)
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
    st.markdown(f"##### {fact_sentence(run, looked_at(run, seen))}")
    runs = {"bare": plain, "projected": trace}
    picture = bar_rows(rows, names, words_for(trace), palette(), opened_in("hero", runs))
    show("hero", picture, runs, say("lessons.qkv.alt"))
    stands_for(seen, place)
    for name in ("change", "shapes", "roles", "row"):
        drawer(name, lambda name=name: getattr(drawers, name)(projected))
    code(trace, ("q_projected", "q", "scores", "scaled_scores", "weights", "head_outputs", "concat", "output"))
