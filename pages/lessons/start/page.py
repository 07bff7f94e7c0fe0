"""Start here: one question, answered with numbers; then four doors, and all lessons by their questions."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from pages.lessons.frame import draw_page_frame, show_lesson_run
from pages.lessons.pictures import get_opened_cell, show_picture
from pages.lessons.prompts import predict
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import pick_example, sentence_box
from pages.panels.word_swaps import exchange_word, list_swap_offers
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import current_palette, picture_texts_for, place_names, selection_of
from pages.site.catalog import DOORS, LESSONS, PAGES_BY_SLUG
from pages.site.words import escape_markdown, say

DOOR_ICONS = {
    "explore": ":material/grid_on:",
    "learn": ":material/school:",
    "practise": ":material/edit:",
    "history": ":material/history_edu:",
}

with draw_page_frame("start") as place:
    st.markdown(f"#### {say('lessons.start.question')}\n{say('lessons.start.intro')}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
    trace, material = trace_for(setup), inputs_of(setup)
    look, names = selection_of(trace, setup), place_names(trace, "T", trace.sizes()["T"])
    at = (0, look.head, look.query)
    rows, runs = [row_of(say("lessons.start.row", word=names[look.query]), trace, "weights", at, "now")], {"now": trace}
    st.markdown(f"##### {fact_sentence(trace, look)}")
    for old, new in list_swap_offers(setup, material)[:1]:  # one word changes: who is meant then?
        other = trace_for(replace(setup, text=exchange_word(setup, material, old, new)))
        row = other.step("weights").window(B=0, H=look.head, T=look.query)
        changed = zip(names, place_names(other, "T", other.sizes()["T"]), strict=True)
        names = [was if was == now else say("lessons.start.either", was=was, now=now) for was, now in changed]
        known = predict(
            names, {int(row.argmax())}, say("lessons.start.ask", old=escape_markdown(old), new=escape_markdown(new))
        )
        rows.append(row_of(say("lessons.start.row", word=new), other, "weights", at, "then", hidden=not known))
        runs["then"] = other
    picture = bar_rows(rows, names, picture_texts_for(trace), current_palette(), get_opened_cell("hero", runs))
    show_picture("hero", picture, runs, say("lessons.start.alt"))
    show_lesson_run(setup, place)
    for box, (door, slug) in zip(st.columns(len(DOORS)), DOORS.items(), strict=True):
        with box.container(border=True, height="stretch"):
            st.page_link(PAGES_BY_SLUG[slug].path, label=say(f"lessons.start.door_{door}"), icon=DOOR_ICONS[door])
            st.caption(say(f"lessons.start.behind_{door}"))
    for slug in LESSONS:
        with st.container(horizontal=True, vertical_alignment="center", gap=None):  # on a phone below each other
            st.page_link(PAGES_BY_SLUG[slug].path, label=say(f"page.{slug}"))
            st.caption(say(f"lessons.{slug}.question"), width="content")
