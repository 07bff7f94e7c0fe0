"""Draws the lesson on tokens: a sentence split into words, into subword tokens, and into characters."""

import streamlit as st

from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_run
from pages.lessons.prompts import predict
from pages.lessons.sentences import show_answer
from pages.lessons.tokens.drawers import LESSON, show_cut_text
from pages.panels.link_controls import pick_example, sentence_box
from pages.runs.model_runs import model_sentences_of
from pages.site.words import say

MOST_WORDS = 24  # most words of a typed sentence
GUESSES = ("words", "pieces", "characters")


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("model_en", "model_zh", zh="model_zh"), most=MOST_WORDS)
    kind = model_sentences_of(setup.run)
    answers = [say(f"lessons.tokens.row_{name}") for name in GUESSES]
    known = predict(answers, {GUESSES.index("pieces")})
    if known:
        show_answer("lessons.tokens.fact")
    show_cut_text(kind)
    st.caption(say("lessons.tokens.how"))
    show_lesson_run(setup, place)
    draw_drawers(LESSON, setup)
