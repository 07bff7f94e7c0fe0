"""Why not an RNN or a CNN? How much a position depends on a word, against how far away that word stands."""

from collections.abc import Mapping

import streamlit as st

from attention_core.curves import Curve, curves, decades, wholes
from attention_core.encoders import KINDS, LONGEST, Encoder
from attention_core.examples import EXAMPLES
from attention_core.hearing import MEASURES, Heard, distances, evenly, first_overtaking, usual_place, word_at
from attention_core.numerals import small, small_percent
from pages.shared.choices import choose, choose_several, keep, option, pick_place, sentence_box, slide
from pages.shared.drawers import distance as drawers
from pages.shared.encoded import WIDTH, Words, attention_setup, hearing, names_of, run_with_states
from pages.shared.lesson import code, drawer, lesson, revealed, stands_for
from pages.shared.measuring import one_by_one
from pages.shared.pictures import curve_chart
from pages.shared.places import palette
from pages.shared.rituals import goal
from pages.shared.setup import Setup
from pages.shared.words import language, literal, say

SHOWN, RACERS = ("rnn", "lstm", "cnn", "attention"), ("lstm", "attention")
SPOKEN = {"share": small_percent, "relative": small}


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


def draw(found: Mapping[str, Heard], there: range, distance: int, measure: str, word: str) -> None:
    """A curve for each encoder, and where each word has an even share."""
    drawn = [
        Curve(option("kinds")(kind), each.distances, each.mean, drawers.colours()[kind], band=each.band)
        for kind, each in found.items()
    ]
    if measure == "share":
        drawn.append(Curve(f"1/{len(there)}", (min(there), max(there)), evenly(there), palette().x, dashed=True))
    x = wholes(say(f"lessons.distance.axis_{'both' if min(there) < 0 else 'one'}", word=word), there)
    numbers = [number for curve in drawn for number in curve.y]
    y = decades(say(f"lessons.distance.axis_{measure}"), numbers, 1.0 if measure == "share" else None)
    curve_chart(curves(drawn, x, y, palette(), distance, 900, 228), "distance_hero", say("lessons.distance.alt"))


def tell(found: Mapping[str, Heard], distance: int, measure: str, word: str, position: str) -> None:
    """How much the position depends on the word at this distance, for each kind, the most first."""
    much = {kind: SPOKEN[measure](each.at(distance)) for kind, each in found.items()}
    order = sorted(found, key=lambda kind: found[kind].at(distance), reverse=True)
    parts = [say(f"lessons.distance.part_{measure}", kind=option("kinds")(kind), much=much[kind]) for kind in order]
    way = "back" if distance > 0 else "ahead" if distance < 0 else "itself"
    where = say(f"lessons.distance.where_{way}", word=literal(word), count=abs(distance))
    told = {"position": literal(position), "where": where, "parts": say("fact.comma").join(parts)}
    told["parts"] = told["parts"] or say("lessons.distance.nobody")
    st.markdown(f"##### {say(f'lessons.distance.fact_{measure}', **told)}")


def race(found: Mapping[str, Heard], distance: int, measure: str) -> None:
    """Two kinds against each other: at which distance does the one that was behind overtake?"""
    starters = RACERS if {*RACERS} <= {*found} else [*found][:2]
    with st.container(horizontal=True):
        names = zip(("one", "other"), starters, strict=True)
        one, other = (choose(name, [*found], kind, option("kinds")) for name, kind in names)
    turn = first_overtaking(found[one], found[other])
    leader, chaser = sorted((one, other), key=lambda kind: found[kind].at(distance), reverse=True)
    told = {"leader": option("kinds")(leader), "chaser": option("kinds")(chaser), "distance": distance, "turn": turn}
    for name, kind in (("more", leader), ("less", chaser)):
        much = SPOKEN[measure](found[kind].at(distance))
        told[name] = say(f"lessons.distance.much_{measure}", much=much)
    if turn is None:
        st.caption(say("lessons.distance.never" if one != other else "lessons.distance.same", **told))
        return
    answer = say("lessons.distance.answer", **told) if revealed() else ""
    goal(
        distance == turn, say("lessons.distance.overtaken", **told), f"{say('lessons.distance.race', **told)} {answer}"
    )


with lesson("distance") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words, sentence = chosen_words()
        names = names_of(words)
        both = choose("direction", ("one", "both")) == "both"
        at = pick_place("at", names, usual_place(both, len(names)), width=130)
    there = distances(both, len(names), at)
    distance = slide("distance", there, max(there)) if len(there) > 1 else 0
    fact, hero, racing, settings = st.container(), st.container(), st.container(), st.container()
    with settings:
        first, second, third = st.columns([4, 3, 2])
        with first:
            kinds = choose_several("kinds", KINDS, SHOWN)
        with second:
            measure = choose("measure", MEASURES)
        with third:
            draws = slide("draws", (1, 2, 4, 8), 8)
        encoders = chosen_encoders(both)
    shown = {kind: encoders[kind] for kind in kinds}
    with hero:
        tasks = one_by_one(kinds, stopped=lambda: keep("draws", 1))
        found = {kind: hearing(encoders[kind], words, at, measure, draws) for kind in tasks}
        draw(found, there, distance, measure, names[at])
    with fact:
        tell(found, distance, measure, names[word_at(at, distance)], names[at])
    with racing:
        if len(found) > 1:
            race(found, distance, measure)
        st.caption(say(f"lessons.distance.how_{measure}", draws=draws, width=WIDTH))
    if (setup := attention_setup(encoders["attention"], words, at)) is not None:
        stands_for(setup, place)
    drawer("states", lambda: drawers.states(sentence, encoders["attention"], encoders["rnn"]))
    drawer("cost", lambda: drawers.cost(shown, encoders["cnn"], words, distance))
    drawer("time", lambda: drawers.time(shown))
    drawer("fixed", lambda: drawers.fixed_weights(sentence.example))
    code(
        run_with_states(sentence, encoders["attention"], encoders["rnn"]), ("h_1", "scores", "weights", "head_outputs")
    )
