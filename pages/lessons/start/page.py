"""Start here: one question, answered with numbers; then four links, and all lessons by their questions."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import row_of
from pages.lessons.frame import draw_page_frame, show_lesson_run, show_question
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names
from pages.panels.flow_picture import show_journey
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import pick_example, sentence_box
from pages.panels.word_swaps import exchange_word, list_swap_offers
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import selection_of
from pages.site.catalog import DOORS, LESSONS, PAGES_BY_SLUG
from pages.site.words import escape_markdown, say

DOOR_ICONS = {
    "explore": ":material/grid_on:",
    "learn": ":material/school:",
    "practise": ":material/edit:",
    "history": ":material/history_edu:",
}

with draw_page_frame("start") as place:
    show_question("start")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
    trace = trace_for(setup)
    inputs = inputs_of(setup)
    selection = selection_of(trace, setup)
    names = list_place_names(trace, "T")
    row_place = (0, selection.head, selection.query)
    title = say("lessons.start.row", word=names[selection.query])
    rows = [row_of(title, trace, "weights", row_place, "now")]
    runs = {"now": trace}
    st.markdown(f"##### {fact_sentence(trace, selection)}")
    for old, new in list_swap_offers(setup, inputs)[:1]:  # one word changes: who is meant then?
        changed = trace_for(replace(setup, text=exchange_word(setup, inputs, old, new)))
        weights = changed.step("weights").window(B=0, H=selection.head, T=selection.query)  # (S,)
        merged_names = []
        for name, changed_name in zip(names, list_place_names(changed, "T"), strict=True):
            either = say("lessons.start.either", was=name, now=changed_name)
            merged_names.append(name if name == changed_name else either)
        names = merged_names
        question = say("lessons.start.ask", old=escape_markdown(old), new=escape_markdown(new))
        known = predict(names, {int(weights.argmax())}, question)
        title = say("lessons.start.row", word=new)
        rows.append(row_of(title, changed, "weights", row_place, "then", hidden=not known))
        runs["then"] = changed
    show_journey(setup)
    show_bar_rows("hero", rows, names, runs, trace, say("lessons.start.alt"))
    show_lesson_run(setup, place)
    for box, (door, slug) in zip(st.columns(len(DOORS)), DOORS.items(), strict=True):
        with box.container(border=True, height="stretch"):
            label = say(f"lessons.start.door_{door}")
            st.page_link(PAGES_BY_SLUG[slug].path, label=label, icon=DOOR_ICONS[door])
            st.caption(say(f"lessons.start.behind_{door}"))
    for slug in LESSONS:
        with st.container(horizontal=True, vertical_alignment="center", gap=None):  # on a phone below each other
            st.page_link(PAGES_BY_SLUG[slug].path, label=say(f"page.{slug}"))
            st.caption(say(f"lessons.{slug}.question"), width="content")
