"""What does a decoder see? It writes word by word: looks back, asks the other sentence, and says the next word."""

import streamlit as st

from pages.lessons.decoder.drawers import LESSON
from pages.lessons.decoder.threads import list_next_words, show_threads
from pages.lessons.decoder.translated import choose_written
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_run
from pages.lessons.prompts import predict
from pages.lessons.sentences import show_answer
from pages.panels.gloss import show_gloss
from pages.site.words import say

GUESSES = ("all", "before", "none")

with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        written = choose_written()
    answers = [say(f"lessons.decoder.guess_{name}") for name in GUESSES]
    known = predict(answers, {GUESSES.index("before")})
    if known:
        show_answer("lessons.decoder.fact")
    show_threads(written)
    coming = [each["word"] for each in list_next_words(written)[written.row]]
    show_gloss((*written.source, *written.target, *coming))
    st.caption(say("lessons.decoder.how"))
    show_lesson_run(written.shown(), place)
    draw_drawers(LESSON, written)
