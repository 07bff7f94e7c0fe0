"""Do heads mean something? Three trainings of the same network: what a head shows, and what is answered without it."""

import streamlit as st

from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.meaning.drawers import LESSON
from pages.lessons.meaning.head_rows import show_heads
from pages.lessons.meaning.networks import LANGUAGES, choose_step, pick_pair, read_last, setup_for_network
from pages.lessons.meaning.told_figures import (
    ask_words,
    describe_change,
    find_right_guess,
    is_changed,
    tell_lacking_steps,
    tell_steps,
)
from pages.lessons.prompts import predict
from pages.panels.link_controls import choose_option, pick_example
from pages.runs.cache import trace_for
from pages.site.words import say

GUESSES = ("most", "some", "few")
HEAD_CHANGES = ("own", "even", "off")  # what the heads do


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        example = pick_example(*LANGUAGES, zh="model_zh").example
        language = LANGUAGES[example]
        number = pick_pair(language)
        choice = choose_step(language)
        change = choose_option("change", HEAD_CHANGES)
    answers = [say(f"lessons.meaning.guess_{name}") for name in GUESSES]
    known = predict(answers, {find_right_guess(language)}, ask_words(language))
    tell_steps(choice, language, known)
    tell_lacking_steps(choice, language)
    if is_changed(change):
        st.markdown(describe_change(change, language))
    show_heads(choice, language, number, change, known)
    st.caption(say("lessons.meaning.how"))
    one, _ = read_last("C", language, number)
    setup = setup_for_network("C", example, one)
    show_lesson_run(setup, place)
    draw_drawers(LESSON, known, language)
    show_lesson_code(LESSON, trace_for(setup))
