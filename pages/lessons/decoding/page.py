"""Draws the lesson on decoding: a model continues a text word by word, with a cache of earlier keys and values."""

import streamlit as st

from attention_core.record.number_text import format_grouped, format_small
from attention_core.variants.cached_model import gap_to_whole_run
from pages.lessons.decoding.drawers import LESSON
from pages.lessons.decoding.shelves import show_shelves
from pages.lessons.decoding.written import BEGINNINGS, Written, choose_beginning, choose_words, write_on
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import pick_example
from pages.panels.model_guess import show_guess_sign


def tell_proof(written: Written) -> None:
    """Shows the largest difference between the model's numbers with and without a cache."""
    gap = gap_to_whole_run(written.name, written.tokens)
    values = {"count": len(written.tokens), "words": format_grouped(written.shape.words), "gap": format_small(gap)}
    show_sentence("lessons.decoding.proof", **values)


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        beginning = choose_beginning(pick_example(*BEGINNINGS, zh="model_zh_decoder"))
    picture = st.container()
    setup = choose_words(beginning)
    written = write_on(setup)
    with picture:
        show_guess_sign(beginning)
        show_shelves(written)
        tell_proof(written)
    show_lesson_run(written.whole(), place)
    draw_drawers(LESSON, written)
    alone = written.stack(written.stop)["1.attention"]
    show_lesson_code(LESSON, alone)
