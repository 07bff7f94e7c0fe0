"""Why not an RNN or a CNN? How much a position depends on a word, against how far away that word stands."""

from collections.abc import Callable, Mapping

import streamlit as st

from attention_core.drawing.curves import Curve, curves, decades, wholes
from attention_core.examples.examples import EXAMPLES
from attention_core.record.number_text import small, small_percent
from attention_core.variants.encoders import KINDS, LONGEST, Encoder
from attention_core.variants.influence import MEASURES, Heard, distances, evenly, usual_place, word_at
from pages.lessons.distance import drawers
from pages.lessons.encoders import WIDTH, Words, attention_setup, hearing, names_of, run_with_states
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.prompts import race
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose, choose_several, keep, option, pick_place, sentence_box, slide
from pages.panels.progress import one_by_one
from pages.session.labels import palette
from pages.setup.setup import Setup
from pages.site.words import language, literal, say

SHOWN, RACERS = ("rnn", "lstm", "cnn", "attention"), ("lstm", "attention")


def chosen_words() -> tuple[Words, Setup]:
    """The words that are encoded, and a sentence: the same one, or the example's where the words are random."""
    usual = "zh_ta" if language() == "zh" else "en_it"
    kind = choose("words", ("en_it", "zh_ta", "random"), usual)
    keep("words", kind)  # always in the link: what it opens must not depend on who opens it
    example = kind if kind in EXAMPLES else usual
    sentence = Setup(example=example, text=EXAMPLES[example].far)
    if kind == "random":
        return slide("length", (8, 16, 20, 32, 64, 128), 32), sentence
    own = sentence_box(sentence, most=LONGEST)
    return own, own


def chosen_encoders(both: bool) -> dict[str, Encoder]:
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
    return {kind: Encoder(kind, width=WIDTH, both=both, **more.get(kind, {})) for kind in KINDS}


def chosen_measure() -> tuple[str, int, Callable[[float], str]]:
    """How influence is measured, over how many draws of the weights, and how a number of it is told."""
    first, second = st.columns(2)
    with first:
        measure = choose("measure", MEASURES)
    with second:
        draws = slide("draws", (1, 2, 4, 8), 8)
    written = {"share": small_percent, "relative": small}[measure]
    return measure, draws, lambda much: say(f"lessons.distance.much_{measure}", much=written(much))


def draw(found: Mapping[str, Heard], there: range, distance: int, measure: str, word: str) -> None:
    """A curve for each encoder, and where each word has an even share."""
    drawn = [
        Curve(option("kinds")(kind), each.distances, each.mean, drawers.colours()[kind], band=each.band)
        for kind, each in found.items()
    ]
    if measure == "share":
        ends = (min(there), max(there))
        drawn.append(Curve(f"1/{len(there)}", ends, evenly(there), palette().x, dashed=True))
    x = wholes(say(f"lessons.distance.axis_{'both' if min(there) < 0 else 'one'}", word=word), there)
    numbers = [number for curve in drawn for number in curve.y]
    y = decades(say(f"lessons.distance.axis_{measure}"), numbers, 1.0 if measure == "share" else None)
    curve_chart(curves(drawn, x, y, palette(), distance, 900, 228), "distance_hero", say("lessons.distance.alt"))


def told(found: Mapping[str, Heard], distance: int, spoken: Callable[[float], str], word: str) -> dict[str, str]:
    """Where a word stands, and how much comes from there by each kind, the most first."""
    order = sorted(found, key=lambda kind: found[kind].at(distance), reverse=True)
    parts = [f"{option('kinds')(kind)} {spoken(found[kind].at(distance))}" for kind in order]
    way = "back" if distance > 0 else "ahead" if distance < 0 else "itself"
    where = say(f"lessons.distance.where_{way}", word=literal(word), count=abs(distance))
    return {"where": where, "parts": say("fact.comma").join(parts) or say("lessons.distance.nobody")}


with lesson("distance") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words, sentence = chosen_words()
        names = names_of(words)
        both = choose("direction", ("one", "both")) == "both"
        at = pick_place("at", names, usual_place(both, len(names)), width=130)
    there = distances(both, len(names), at)
    distance = slide("distance", there, max(there)) if len(there) > 1 else 0
    hero, settings = st.container(gap="xsmall"), st.container()
    with settings:
        kinds = choose_several("kinds", KINDS, SHOWN)
        encoders = chosen_encoders(both)
        measure, draws, spoken = chosen_measure()
    shown = {kind: encoders[kind] for kind in KINDS if kind in kinds}
    with hero:
        curves_of = one_by_one(
            lambda each: hearing(each, words, at, measure, draws), [*shown.values()], lambda: keep("draws", 1)
        )
        found = dict(zip(shown, curves_of, strict=True))
        words_of_it = told(found, distance, spoken, names[word_at(at, distance)])
        st.markdown(f"##### {say(f'lessons.distance.fact_{measure}', position=literal(names[at]), **words_of_it)}")
        draw(found, there, distance, measure, names[at])
        if len(found) > 1:
            race(found, distance, RACERS, spoken)
        st.caption(say(f"lessons.distance.how_{measure}", draws=draws, width=WIDTH))
    if (setup := attention_setup(encoders["attention"], words, at)) is not None:
        stands_for(setup, place)
    drawer("states", lambda: drawers.states(sentence, encoders["attention"], encoders["rnn"]))
    drawer("cost", lambda: drawers.cost(shown, encoders["cnn"], words, distance))
    drawer("time", lambda: drawers.time(shown))
    drawer("fixed", lambda: drawers.fixed_weights(sentence.example))
    steps = ("h_1", "scores", "weights", "head_outputs")
    code(run_with_states(sentence, encoders["attention"], encoders["rnn"]), steps)
