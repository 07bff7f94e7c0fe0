"""How does a decoder go on? What each step computes with a cache of keys and values, and without one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.record.number_text import format_grouped
from attention_core.variants.decoding_work import guess_key_counts, total_work, work_of_step
from pages.lessons.decoding.drawers import DRAWERS
from pages.lessons.decoding.triangles import show_triangles
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.link_controls import pick_example, sentence_box, slide
from pages.runs.cache import decoding_steps_for, trace_for
from pages.session.labels import place_name, selection_of
from pages.site.words import escape_markdown, say

DECODED_LENGTHS = (16, 64, 256, 1024, 4096)
STEP_BARS_HEIGHT_PX, STEP_BARS_WIDTH_PX = 176.0, 430.0  # of the step's weights, beside triangles of few words
MAX_WORDS_BESIDE_BARS = 8  # words of such triangles


def show_step_weights(alone: Trace, names: Sequence[str], head: int, query: int) -> None:
    """Shows what the word of a step attends to, as bars.

    alone: the run of the step. names: of the words of the whole sentence."""
    title = say("lessons.decoding.row", word=names[query], head=place_name(alone, "H", head))
    row = row_of(title, alone, "weights", (0, head, 0))
    width = STEP_BARS_WIDTH_PX if len(names) <= MAX_WORDS_BESIDE_BARS else PAGE_WIDTH_PX
    show_bar_rows(
        "row",
        [row],
        names,
        {"": alone},
        alone,
        title,
        height=STEP_BARS_HEIGHT_PX,
        room=width,
    )


def ask_for_key_count() -> None:
    """Asks how many keys a long text takes without a cache, and says how many it is with and without one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            length = slide("length", DECODED_LENGTHS, 256, format_grouped)
        counts = guess_key_counts(length)
        right = total_work(length, cached=False).keys
        labels = [format_grouped(count) for count in counts]
        known = predict(labels, {counts.index(right)})
    if known:
        show_sentence(
            "lessons.decoding.counted",
            length=format_grouped(length),
            cached=format_grouped(total_work(length).keys),
            again=format_grouped(right),
        )


with draw_lesson("decoding") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it_causal", "zh_ta", zh="zh_ta"))
        setup = replace(setup, masks=("causal",))
        trace = trace_for(setup)
        names = list_place_names(trace, "T")
        t = slide("t", range(len(names)), selection_of(trace, setup).query, names.__getitem__)
    setup = replace(setup, token=t)
    alone = decoding_steps_for(setup)[t]
    again = work_of_step(t, cached=False)
    fact = say(
        "lessons.decoding.fact",
        word=escape_markdown(names[t]),
        step=again.keys,
        kept=work_of_step(t).read,
        again=again.keys,
    )
    st.markdown(f"##### {fact}")
    with st.container(horizontal=True, gap="medium"):
        show_triangles(names, t, again.keys)
        with st.container(width="content"):
            show_step_weights(alone, names, selection_of(trace, setup).head, t)
    ask_for_key_count()
    show_lesson_run(setup, place)
    for name, show in DRAWERS.items():
        drawer(name, partial(show, setup))
    show_lesson_code(alone, ("k", "k_new", "v", "scores", "weights", "head_outputs", "output"))
