"""The controls of the lesson on distance: the words, the encoders, and how influence is measured."""

from collections.abc import Callable, Sequence
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
from pages.panels.link_controls import choose_option, sentence_box
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.setup.setup import Setup
from pages.site.words import current_language, say

INFLUENCE_FORMATS = {"share": format_small_percent, "relative": format_small}


def choose_words(asked: list[LiveChoice]) -> tuple[EncoderWords, Setup]:
    """Asks for the words to encode. Returns them and their sentence, or the example's for random words.

    asked: list to which the sliders that the measurements wait for are appended."""
    usual = "zh_ta" if current_language() == "zh" else "en_it"
    kind = choose_option("words", ("en_it", "zh_ta", "random"), usual)
    store_choice("words", kind)  # always in the link, because the default depends on the language
    example = kind if kind in EXAMPLES else usual
    sentence = Setup(example=example, text=EXAMPLES[example].far)
    if kind == "random":
        return ask_number(asked, "length", (8, 16, 20, 32, 64, 128), 32), sentence
    own = sentence_box(sentence, most=MAX_ENCODER_LENGTH)
    return own, own


def ask_number(asked: list[LiveChoice], name: str, options: Sequence[float], default: float) -> float:
    """Asks for a number on a slider, and appends the slider to asked, see choose_words."""
    choice = find_live_choice(name, options, default)
    show_live_choice(choice)
    asked.append(choice)
    return choice.value


def choose_encoders(asked: list[LiveChoice], both: bool) -> dict[str, Encoder]:
    """Asks for the parameters of all encoders. Returns them by kind. asked: as in choose_words."""
    of_rnn, of_gates, of_layers, of_window = st.columns(4)
    with of_rnn:
        gain = ask_number(asked, "gain", (0.5, 0.9, 1.0, 1.2, 1.5), 0.9)
    with of_gates:
        keep = ask_number(asked, "keep", range(5), 2)
    with of_layers:
        layers = ask_number(asked, "layers", range(1, 17), 4)
    with of_window:
        window = ask_number(asked, "window", (3, 5, 7), 3)
    make_encoder = partial(Encoder, width=COMPARED_ENCODER_WIDTH, both=both)
    return {
        "rnn": make_encoder("rnn", gain=gain),
        "gru": make_encoder("gru", keep=keep),
        "lstm": make_encoder("lstm", keep=keep),
        "cnn": make_encoder("cnn", layers=layers, window=window),
        "attention": make_encoder("attention"),
    }


def choose_measure(asked: list[LiveChoice]) -> tuple[str, LiveChoice, Callable[[float], str]]:
    """Asks how influence is measured and over how many draws of the weights. Returns both and a number formatter.

    asked: as in choose_words."""
    first, second = st.columns(2)
    with first:
        measure = choose_option("measure", INFLUENCE_MEASURES)
    with second:
        draws = find_live_choice("draws", (1, 2, 4, 8), 8)
        show_live_choice(draws)
    asked.append(draws)
    format_number = INFLUENCE_FORMATS[measure]
    return measure, draws, lambda amount: say(f"lessons.distance.much_{measure}", much=format_number(amount))
