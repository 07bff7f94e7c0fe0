"""Shows the lesson on distance: how the influence of one word on another depends on their distance, for several
encoders.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.record.number_text import format_small, format_small_percent
from attention_core.variants.encoders import ENCODER_KINDS, MAX_ENCODER_LENGTH, Encoder
from attention_core.variants.influence import (
    INFLUENCE_MEASURES,
    InfluenceByDistance,
    default_position,
    distances_heard,
)
from pages.lessons.distance.drawers import LESSON
from pages.lessons.distance.influence import (
    describe_word_place,
    draw_influence_curves,
    list_influences,
    show_beads,
    tell_factors,
)
from pages.lessons.encoders import (
    COMPARED_ENCODER_WIDTH,
    EncoderWords,
    cached_influence,
    get_word_names,
    run_with_states,
    setup_for_attention_encoder,
)
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.prompts import show_race
from pages.panels.lesson_choices import store_choice
from pages.panels.link_controls import choose_option, choose_options, pick_place, sentence_box
from pages.panels.live_choice import LiveChoice, LiveChoices, find_live_choice, show_live_choice
from pages.panels.live_frames import tell_live
from pages.panels.progress import compute_one_by_one
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language, escape_markdown, say

DEFAULT_ENCODERS, DEFAULT_RACERS = ("rnn", "lstm", "cnn", "attention"), ("lstm", "attention")


def tell_how(measure: str, draws: int) -> str:
    """Returns the caption that explains how the influence of a word is measured."""
    lines = say(f"lessons.distance.lines_of_{'many' if draws > 1 else 'one'}", draws=draws)
    return say(f"lessons.distance.how_{measure}", lines=lines, width=COMPARED_ENCODER_WIDTH)


# ---- the controls: the words, the encoders, and how influence is measured --------------------------------------------
INFLUENCE_FORMATS = {"share": format_small_percent, "relative": format_small}


def choose_words(asked: list[LiveChoice]) -> tuple[EncoderWords, Setup]:
    """Shows the choice of the words to encode; returns the words, and the Setup of their sentence.

    For random words the Setup is that of the example sentence. asked: a list to which this function appends the sliders
    that the measurements depend on.
    """
    usual = "zh_ta" if current_language() == "zh" else "en_it"
    kind = choose_option("words", ("en_it", "zh_ta", "random"), usual)
    store_choice("words", kind)  # the link contains even the default, because the default depends on the language
    example = kind if kind in EXAMPLES else usual
    sentence = make_setup(example=example, text=EXAMPLES[example].far)
    if kind == "random":
        return ask_number(asked, "length", (8, 16, 20, 32, 64, 128), 32), sentence
    own = sentence_box(sentence, most=MAX_ENCODER_LENGTH)
    return own, own


def ask_number(asked: list[LiveChoice], name: str, options: Sequence[float], default: float) -> float:
    """Shows a slider for a number, appends it to `asked`, and returns the number.

    asked: the list of the sliders that the measurements depend on.
    """
    choice = find_live_choice(name, options, default)
    show_live_choice(choice)
    asked.append(choice)
    return choice.value


def choose_encoders(asked: list[LiveChoice], both: bool) -> dict[str, Encoder]:
    """Shows the sliders of all encoders; returns {kind: its encoder}.

    asked: the list of the sliders that the measurements depend on; the shown ones are appended. both: whether
    recurrences read in both directions.
    """
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
    """Shows the choice of the measure of influence, and a slider for the number of weight samples.

    Returns the measure, the slider, and a function that formats an influence. asked: the list of the sliders on which
    the measurements depend; the slider is appended.
    """
    first, second = st.columns(2)
    with first:
        measure = choose_option("measure", INFLUENCE_MEASURES)
    with second:
        draws = find_live_choice("draws", (1, 2, 4, 8), 8)
        show_live_choice(draws)
    asked.append(draws)
    format_number = INFLUENCE_FORMATS[measure]
    return measure, draws, lambda amount: say(f"lessons.distance.much_{measure}", much=format_number(amount))


with draw_lesson(LESSON) as place:
    asked: list[LiveChoice] = []  # the sliders on which the measurements depend
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words, sentence = choose_words(asked)
        names = get_word_names(words)
        both = choose_option("direction", ("one", "both")) == "both"
        at = pick_place("at", names, default_position(both, len(names)), width=130)
    distances = distances_heard(both, len(names), at)
    far = find_live_choice("distance", distances, max(distances))
    distance = far.value
    if len(distances) > 1:
        show_live_choice(far)
    hero, settings = st.container(gap="xsmall"), st.container()
    with settings:
        kinds = choose_options("kinds", ENCODER_KINDS, DEFAULT_ENCODERS)
        encoders = choose_encoders(asked, both)
        measure, draws, format_influence = choose_measure(asked)
    followed = LiveChoices(follows=(far,), waits_for=tuple(asked))
    shown = {kind: encoders[kind] for kind in ENCODER_KINDS if kind in kinds}

    def tell_influences(influences: Mapping[str, InfluenceByDistance], at: int, distance: int) -> str:
        """Returns the sentence about the influence of the word at a distance on a position."""
        where = describe_word_place(distance, names[at - distance])
        parts = list_influences(influences, distance, format_influence)
        return say(f"lessons.distance.fact_{measure}", position=escape_markdown(names[at]), where=where, parts=parts)

    with hero:
        measure_influence = partial(cached_influence, words=words, position=at, measure=measure, draws=draws.value)
        curves_of = compute_one_by_one(measure_influence, [*shown.values()], partial(store_choice, "draws", 1))
        influences = dict(zip(shown, curves_of, strict=True))
        tell_live(followed, "distance_fact", [tell_influences(influences, at, each) for each in distances], "heading")
        show_beads(influences, followed, names, at, format_influence, far.control.take)
        draw_influence_curves(influences, followed, measure, names[at])
        if len(influences) > 1:
            show_race(influences, followed, DEFAULT_RACERS, format_influence)
        st.caption(tell_factors(influences))
        tell_live(draws, "distance_how", [tell_how(measure, each) for each in draws.options], "caption")
    attention, rnn = encoders["attention"], encoders["rnn"]
    setup = setup_for_attention_encoder(attention, words, at)
    if setup is not None:
        show_lesson_run(setup, place)
    draw_drawer(LESSON, "states", sentence, encoders)
    draw_drawer(LESSON, "cost", shown, encoders["cnn"], words, distance)
    draw_drawer(LESSON, "time", shown)
    draw_drawer(LESSON, "fixed", sentence.run.example)
    trace = run_with_states(sentence, attention, rnn)
    show_lesson_code(LESSON, trace)
