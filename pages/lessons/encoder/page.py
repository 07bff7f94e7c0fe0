"""What is a Transformer block? A hidden word's vector, and what each part adds to it until the word is found."""

import streamlit as st

from pages.lessons.encoder.drawers import LESSON
from pages.lessons.encoder.hidden_word import EXAMPLES, choose_hidden_word
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_run
from pages.lessons.prompts import predict
from pages.lessons.sentences import show_answer
from pages.panels.link_controls import pick_example
from pages.panels.model_look import view_block
from pages.panels.model_walk import show_walk
from pages.session.view import make_screen_state
from pages.site.words import say

GUESSES = ("replaced", "added", "both")

with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        example = pick_example(*EXAMPLES, zh="model_zh")
        setup = choose_hidden_word(example)
    answers = [say(f"lessons.encoder.guess_{name}") for name in GUESSES]
    known = predict(answers, {GUESSES.index("added")})
    if known:
        show_answer("lessons.encoder.fact")
    show_walk(lambda: view_block(make_screen_state(setup, None)), "encoder_walk")
    st.caption(say("lessons.encoder.how"))
    show_lesson_run(setup, place)
    draw_drawers(LESSON, setup)
