"""Why not an RNN or a CNN? How much a position depends on a word, by distance to that word."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attention_core.variants.encoders import ENCODER_KINDS
from attention_core.variants.influence import (
    InfluenceByDistance,
    default_position,
    distances_heard,
    word_at,
)
from pages.lessons.distance.beads import show_beads
from pages.lessons.distance.drawers import LESSON
from pages.lessons.distance.encoder_choices import choose_encoders, choose_measure, choose_words
from pages.lessons.distance.influence_chart import (
    describe_word_place,
    draw_influence_curves,
    list_influences,
    tell_factors,
)
from pages.lessons.encoders import (
    COMPARED_ENCODER_WIDTH,
    cached_influence,
    get_word_names,
    run_with_states,
    setup_for_attention_encoder,
)
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.prompts import show_race
from pages.panels.lesson_choices import store_choice, take_choice
from pages.panels.link_controls import choose_option, choose_options, pick_place
from pages.panels.live_choice import LiveChoice, LiveChoices, find_live_choice, show_live_choice
from pages.panels.live_frames import tell_live
from pages.panels.progress import compute_one_by_one
from pages.site.words import escape_markdown, say

DEFAULT_ENCODERS, DEFAULT_RACERS = ("rnn", "lstm", "cnn", "attention"), ("lstm", "attention")


def tell_how(measure: str, draws: int) -> str:
    """Returns the caption on how influence is measured."""
    lines = say(f"lessons.distance.lines_of_{'many' if draws > 1 else 'one'}", draws=draws)
    return say(f"lessons.distance.how_{measure}", lines=lines, width=COMPARED_ENCODER_WIDTH)


with draw_lesson(LESSON) as place:
    asked: list[LiveChoice] = []  # sliders that the measurements wait for
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
        """Returns the sentence on the influence of the word at a distance from a position."""
        where = describe_word_place(distance, names[word_at(at, distance)])
        parts = list_influences(influences, distance, format_influence)
        return say(f"lessons.distance.fact_{measure}", position=escape_markdown(names[at]), where=where, parts=parts)

    with hero:
        measure_influence = partial(cached_influence, words=words, position=at, measure=measure, draws=draws.value)
        curves_of = compute_one_by_one(measure_influence, [*shown.values()], partial(store_choice, "draws", 1))
        influences = dict(zip(shown, curves_of, strict=True))
        tell_live(followed, "distance_fact", [tell_influences(influences, at, each) for each in distances], "heading")
        take_distance = partial(take_choice, "distance", default=far.default, read=far.read)
        show_beads(influences, followed, names, at, format_influence, take_distance)
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
    draw_drawer(LESSON, "fixed", sentence.example)
    trace = run_with_states(sentence, attention, rnn)
    show_lesson_code(LESSON, trace)
