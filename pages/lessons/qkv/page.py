"""What does one word take from the others? The same row without projections and with them."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import row_of
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_bar_rows, show_lesson_journey
from pages.lessons.prompts import predict
from pages.lessons.qkv.drawers import LESSON
from pages.lessons.qkv.product import show_product
from pages.lessons.sentences import list_place_names
from pages.panels.fact import show_fact
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.site.words import say

WITHOUT_PROJECTIONS = {"w_q": "none", "w_k": "none", "w_v": "none", "w_o": "none", "heads": 1, "scale": 1.0}

with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        projected = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_for(projected)
        names = list_place_names(trace, "T")
        query = pick_place("token", names, selection_of(trace, projected).query)
        projected = replace(projected, token=query)
        with_or_without = choose_option("words", ("without", "with"))
    bare = replace(projected, **WITHOUT_PROJECTIONS)
    plain = trace_for(bare)
    selection = selection_of(trace, projected)
    show_product(trace, selection, names[selection.query])
    weights = trace.step("weights").window(B=0, H=selection.head, T=selection.query)  # (S,)
    known = predict(names, {int(weights.argmax())}) or with_or_without == "with"
    word = names[selection.query]
    head = place_name(trace, "H", selection.head)
    rows = [
        row_of(
            say("lessons.qkv.row_without", word=word),
            plain,
            "weights",
            (0, 0, selection.query),
            "bare",
        ),
        row_of(
            say("lessons.qkv.row_with", word=word, head=head),
            trace,
            "weights",
            (0, selection.head, selection.query),
            "projected",
            hidden=not known,
        ),
    ]
    shown, run = (projected, trace) if known else (bare, plain)
    show_fact(fact_sentence(run, selection_of(run, shown)))
    runs = {"bare": plain, "projected": trace}
    show_bar_rows("hero", rows, names, runs, trace, say("lessons.qkv.alt"), height=50.0)
    show_lesson_journey(shown)
    show_lesson_run(shown, place)
    draw_drawers(LESSON, projected)
    show_lesson_code(LESSON, trace)
