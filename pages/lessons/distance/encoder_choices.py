"""Lesson 9: what is asked: the words, the encoders, how influence is measured."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.record.number_text import format_small, format_small_percent
from attention_core.variants.encoders import MAX_ENCODER_LENGTH, Encoder
from attention_core.variants.influence import (
    INFLUENCE_MEASURES,
)
from pages.lessons.encoders import (
    COMPARED_ENCODER_WIDTH,
    EncoderWords,
)
from pages.panels.lesson_choices import store_choice
from pages.panels.link_controls import choose_option, sentence_box, slide
from pages.setup.setup import Setup
from pages.site.words import current_language, say

INFLUENCE_FORMATS = {"share": format_small_percent, "relative": format_small}


def choose_words() -> tuple[EncoderWords, Setup]:
    """Asks for the words that are encoded. Gives them and a sentence: theirs, or the example's for random words."""
    usual = "zh_ta" if current_language() == "zh" else "en_it"
    kind = choose_option("words", ("en_it", "zh_ta", "random"), usual)
    store_choice("words", kind)  # always in the link: what it opens must not depend on who opens it
    example = kind if kind in EXAMPLES else usual
    sentence = Setup(example=example, text=EXAMPLES[example].far)
    if kind == "random":
        return slide("length", (8, 16, 20, 32, 64, 128), 32), sentence
    own = sentence_box(sentence, most=MAX_ENCODER_LENGTH)
    return own, own


def choose_encoders(both: bool) -> dict[str, Encoder]:
    """Asks for the parameters of all encoders. Gives them by kind."""
    of_rnn, of_gates, of_layers, of_window = st.columns(4)
    with of_rnn:
        gain = slide("gain", (0.5, 0.9, 1.0, 1.2, 1.5), 0.9)
    with of_gates:
        keep = slide("keep", range(5), 0)
    with of_layers:
        layers = slide("layers", range(1, 17), 4)
    with of_window:
        window = slide("window", (3, 5, 7), 3)
    make_encoder = partial(Encoder, width=COMPARED_ENCODER_WIDTH, both=both)
    return {
        "rnn": make_encoder("rnn", gain=gain),
        "gru": make_encoder("gru", keep=keep),
        "lstm": make_encoder("lstm", keep=keep),
        "cnn": make_encoder("cnn", layers=layers, window=window),
        "attention": make_encoder("attention"),
    }


def choose_measure() -> tuple[str, int, Callable[[float], str]]:
    """Asks how influence is measured, and over how many draws of the weights. Gives how a number of it is said, too."""
    first, second = st.columns(2)
    with first:
        measure = choose_option("measure", INFLUENCE_MEASURES)
    with second:
        draws = slide("draws", (1, 2, 4, 8), 8)
    format_number = INFLUENCE_FORMATS[measure]
    return measure, draws, lambda amount: say(f"lessons.distance.much_{measure}", much=format_number(amount))
