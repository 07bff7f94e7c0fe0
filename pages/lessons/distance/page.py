"""Why not an RNN or a CNN? How much a position depends on a word, against how far away that word stands."""

from collections.abc import Callable

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.record.number_text import format_small, format_small_percent
from attention_core.variants.encoders import ENCODER_KINDS, MAX_ENCODER_LENGTH, Encoder
from attention_core.variants.influence import (
    INFLUENCE_MEASURES,
    default_position,
    distances_heard,
    word_at,
)
from pages.lessons.distance import drawers
from pages.lessons.distance.influence_chart import describe_influence, draw_influence_curves
from pages.lessons.encoders import (
    COMPARED_ENCODER_WIDTH,
    EncoderWords,
    cached_influence,
    get_word_names,
    run_with_states,
    setup_for_attention_encoder,
)
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.prompts import show_race
from pages.panels.link_controls import (
    choose_option,
    choose_options,
    pick_place,
    sentence_box,
    slide,
    store_choice,
)
from pages.panels.progress import compute_one_by_one
from pages.setup.setup import Setup
from pages.site.words import current_language, escape_markdown, say

DEFAULT_ENCODERS, DEFAULT_RACERS = ("rnn", "lstm", "cnn", "attention"), ("lstm", "attention")


def choose_words() -> tuple[EncoderWords, Setup]:
    """The words that are encoded, and a sentence: the same one, or the example's where the words are random."""
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
    """All encoders, by kind."""
    of_rnn, of_gates, of_layers, of_window = st.columns(4)
    with of_rnn:
        more = {"rnn": {"gain": slide("gain", (0.5, 0.9, 1.0, 1.2, 1.5), 0.9)}}
    with of_gates:
        more["gru"] = more["lstm"] = {"keep": slide("keep", range(5), 0)}
    with of_layers:
        layers = slide("layers", range(1, 17), 4)
    with of_window:
        more["cnn"] = {"layers": layers, "window": slide("window", (3, 5, 7), 3)}
    return {
        kind: Encoder(kind, width=COMPARED_ENCODER_WIDTH, both=both, **more.get(kind, {})) for kind in ENCODER_KINDS
    }


def choose_measure() -> tuple[str, int, Callable[[float], str]]:
    """How influence is measured, over how many draws of the weights, and how a number of it is told."""
    first, second = st.columns(2)
    with first:
        measure = choose_option("measure", INFLUENCE_MEASURES)
    with second:
        draws = slide("draws", (1, 2, 4, 8), 8)
    written = {"share": format_small_percent, "relative": format_small}[measure]
    return measure, draws, lambda much: say(f"lessons.distance.much_{measure}", much=written(much))


with draw_lesson("distance") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words, sentence = choose_words()
        names = get_word_names(words)
        both = choose_option("direction", ("one", "both")) == "both"
        at = pick_place("at", names, default_position(both, len(names)), width=130)
    there = distances_heard(both, len(names), at)
    distance = slide("distance", there, max(there)) if len(there) > 1 else 0
    hero, settings = st.container(gap="xsmall"), st.container()
    with settings:
        kinds = choose_options("kinds", ENCODER_KINDS, DEFAULT_ENCODERS)
        encoders = choose_encoders(both)
        measure, draws, spoken = choose_measure()
    shown = {kind: encoders[kind] for kind in ENCODER_KINDS if kind in kinds}
    with hero:
        curves_of = compute_one_by_one(
            lambda each: cached_influence(each, words, at, measure, draws),
            [*shown.values()],
            lambda: store_choice("draws", 1),
        )
        found = dict(zip(shown, curves_of, strict=True))
        words_of_it = describe_influence(found, distance, spoken, names[word_at(at, distance)])
        st.markdown(
            f"##### {say(f'lessons.distance.fact_{measure}', position=escape_markdown(names[at]), **words_of_it)}"
        )
        draw_influence_curves(found, there, distance, measure, names[at])
        if len(found) > 1:
            show_race(found, distance, DEFAULT_RACERS, spoken)
        st.caption(say(f"lessons.distance.how_{measure}", draws=draws, width=COMPARED_ENCODER_WIDTH))
    if (setup := setup_for_attention_encoder(encoders["attention"], words, at)) is not None:
        show_lesson_run(setup, place)
    drawer("states", lambda: drawers.show_rnn_states(sentence, encoders["attention"], encoders["rnn"]))
    drawer("cost", lambda: drawers.show_encoder_costs(shown, encoders["cnn"], words, distance))
    drawer("time", lambda: drawers.show_encoding_times(shown))
    drawer("fixed", lambda: drawers.show_fixed_weights(sentence.example))
    steps = ("h_1", "scores", "weights", "head_outputs")
    show_lesson_code(run_with_states(sentence, encoders["attention"], encoders["rnn"]), steps)
