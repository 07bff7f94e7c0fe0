"""Shows the lesson on the Transformer block: how each part of the block changes a masked word's vector, up to the
prediction of the word.
"""

import streamlit as st

from attention_core.learned.language.batches import MASK
from pages.lessons.encoder.drawers import LESSON
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_run
from pages.lessons.prompts import predict
from pages.lessons.sentences import show_answer
from pages.panels.link_controls import pick_example, pick_place, sentence_box
from pages.panels.model_guess import show_guess_sign
from pages.panels.model_look import view_block
from pages.panels.model_walk import show_walk
from pages.runs.cache import inputs_of
from pages.runs.compute import sentences_of
from pages.session.view import make_screen_state
from pages.setup.setup import Setup
from pages.site.words import say

GUESSES = ("replaced", "added", "both")


# ---- the sentence of the encoder's lesson, one word of which is hidden -----------------------------------------------
EXAMPLES = ("model_en", "model_zh")
HIDDEN = {"model_en": 3, "model_zh": 4}  # index of the default hidden word (did, 没), which the next word reveals
MOST_WORDS = 24  # most words of a typed sentence


def choose_hidden_word(example: Setup) -> Setup:
    """Shows the choice of a sentence and of the word to hide; returns the Setup in which the token <mask> replaces that
    word and is selected.
    """
    typed = sentence_box(example, most=MOST_WORDS)
    show_guess_sign(typed)
    words = inputs_of(typed).queries
    usual = min(HIDDEN[example.run.example], len(words) - 1)
    at = 1 + pick_place("hidden", words[1:], usual - 1)
    return hide_word(typed, at)


def hide_word(setup: Setup, at: int) -> Setup:
    """Returns the Setup of the same sentence in which the token <mask> replaces the word at index `at` and
    is selected.
    """
    words = inputs_of(setup).queries
    seen = (*words[:at], MASK, *words[at + 1 :])
    text = sentences_of(setup.run).spell(seen)
    return setup.with_fields(text=text, token=at, layer=1)


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
