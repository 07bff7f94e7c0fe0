"""Lesson 14, further sights: heads that appear, what is foretold of any text, one layer, each layer's own run."""

from itertools import pairwise

import streamlit as st

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.charts import PAGE, Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.insight.copying_heads import PLACES, head_scores, repeated_share, with_foretold
from attention_core.learned.tasks.repeats import MEASURED
from attention_core.record.number_text import percent
from attention_core.record.trace import Trace
from pages.export.doors import workbench_door
from pages.lessons.learned.learning import Learning, learning, share_axis
from pages.lessons.pictures import Shown, map_shown, opened_in, show, show_beside
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose
from pages.runs.cache import kept, trace_of
from pages.runs.network_store import find
from pages.session.labels import Look, palette, place_names, words_for
from pages.setup.setup import Setup
from pages.site.words import say

DOES = {"L1": "previous", "L2": "induction"}  # what the heads of a layer come to do
ENOUGH = 0.5  # of a head's weight: from there on it may be said that it does
CELL = 30.0  # pixels: of maps of which two stand beside each other
REPEATS = MEASURED  # the position after which everything is a repetition
LAYERS = {"L1": "learned_previous", "L2": "learned_copy"}  # the example whose layer it is


def layer_setup(layer: str, network: str, text: str) -> Setup:
    """The run of a layer."""
    return Setup(LAYERS[layer], text, network=network)


def head_colours() -> dict[str, str]:
    """One a head, by its name."""
    own = palette()
    return {"L1H1": own.q, "L1H2": own.v, "L2H1": own.k, "L2H2": own.share}


# ---- heads appear ----------------------------------------------------------------------------------------------------
@kept
def scores_of(network: str) -> dict[str, list[list[float]]]:
    """How much each head looks back, and behind the last time, by kind, layer and head."""
    found = find(network).measure(head_scores)
    return {kind: scores.tolist() for kind, scores in found.items()}


def most_copying(network: str) -> str:
    """The head of the last layer that looks behind the last time most."""
    scores = scores_of(network)["induction"]
    return max((name for name in PLACES if name.startswith("L2")), key=lambda name: of_head(scores, name))


def of_head(scores: list[list[float]], name: str) -> float:
    """A head's score."""
    layer, head = PLACES[name]
    return scores[layer][head]


def appear(of: Learning) -> None:
    """Two scores of every head against the steps of training."""
    kind = choose("score", ("previous", "induction"))
    steps = list(of.networks)
    found = {step: scores_of(of.networks[step])[kind] for step in steps}
    drawn = []
    for name, colour in head_colours().items():
        drawn.append(Curve(name, steps, [of_head(found[step], name) for step in steps], colour))
    st.markdown(say(f"lessons.induction.about_{kind}"))
    x = Axis(say("lessons.induction.axis_step"), 0, max(steps))
    y = share_axis(say(f"lessons.induction.axis_{kind}"))
    curve_chart(curves(drawn, x, y, palette(), height=240), "induction_appear", say("lessons.induction.alt_appear"))


# ---- what is foretold of any text ------------------------------------------------------------------------------------
@kept
def foretold_run(network: str, text: str, off: tuple[str, ...]) -> Trace:
    """The last layer's run, with how probable each symbol was held that came next, without some heads."""
    return with_foretold(trace_of(layer_setup("L2", network, text)), find(network), text, off)


def typed(network: str, text: str, off: tuple[str, ...]) -> None:
    """How probable the symbol that came next was held after each symbol."""
    trace = foretold_run(network, text, off)
    names = place_names(trace, "T", trace.sizes()["T"])
    pairs = [say("lessons.induction.pair", before=before, after=after) for before, after in pairwise(names)]
    st.markdown(say("lessons.induction.typed"))
    if not pairs:
        return
    runs, rows = {"": trace}, [row_of(say("lessons.induction.row_foretold"), trace, "foretold", (0,))]
    picture = bar_rows(rows, pairs, words_for(trace), palette(), opened_in("typed", runs), whole=True)
    show("typed", picture, runs, say("lessons.induction.row_foretold"))


# ---- one layer cannot ------------------------------------------------------------------------------------------------
def one_layer() -> None:
    """Accuracy by position of one layer beside two."""
    own = {"two": learning("copy_two"), "one": learning("copy_one")}
    colours = {"two": palette().share, "one": palette().k}
    drawn, told = [], {}
    for name, of in own.items():
        figures = of.figures_at(max(of.steps))
        drawn.append(Curve(say(f"lessons.induction.layers_{name}"), of.places, figures, colours[name]))
        told[name] = percent(repeated_share(figures))
    st.markdown(say("lessons.induction.one_layer", **told))
    x = Axis(say("lessons.induction.axis_place"), min(own["two"].places), max(own["two"].places))
    y = share_axis(say("lessons.induction.axis_right"))
    curve_chart(curves(drawn, x, y, palette(), height=240), "induction_layers", say("lessons.induction.alt"))


# ---- each layer's run ------------------------------------------------------------------------------------------------
def layers(network: str, text: str) -> None:
    """The maps of both heads of a layer, and its run in the workbench."""
    layer = choose("layer", tuple(LAYERS))
    setup = layer_setup(layer, network, text)
    trace = trace_of(setup)
    done = max(of_head(scores_of(network)[DOES[layer]], name) for name in PLACES if name.startswith(layer))
    learned = "learned" if done > ENOUGH else "not_yet"
    st.markdown(say(f"lessons.induction.{learned}_{layer}", share=percent(done)))
    drawn = [name for name in PLACES if name.startswith(layer)]
    show_beside(*(head_map(picture, name, trace) for picture, name in zip(("left", "right"), drawn, strict=True)))
    workbench_door(setup, "layers")


def head_map(picture: str, name: str, trace: Trace) -> Shown:
    """The map of one head in its layer's run. picture: its name."""
    _, head = PLACES[name]
    return map_shown(picture, trace, Look(0, head, head, 0), name, PAGE, CELL, outlined=False)
