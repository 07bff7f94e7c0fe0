"""Lesson 14, further sights: heads that appear, what is foretold of any text, one layer, each layer's own run."""

from itertools import pairwise

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.learned.insight.copying_heads import (
    HEAD_PLACES,
    head_scores,
    repeated_share,
    with_next_probabilities,
)
from attention_core.learned.tasks.repeats import MEASURED_HALF
from attention_core.record.trace import Trace
from pages.export.doors import workbench_door
from pages.lessons.learned.learning import TrainingRecord, get_training_record, share_axis
from pages.lessons.opened_cell import get_opened_cell
from pages.lessons.pictures import RunPicture, make_weights_map, show_picture, show_side_by_side
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.labels import Selection, current_palette, picture_texts_for, place_names, spoken_share
from pages.setup.setup import Setup
from pages.site.words import say

LAYER_BEHAVIOURS = {"L1": "previous", "L2": "induction"}  # what the heads of a layer come to do
MIN_BEHAVIOUR_SHARE = 0.5  # of a head's weight: from there on it may be said that it does
LAYER_MAP_CELL_PX = 30.0  # pixels: of maps of which two stand beside each other
FIRST_REPEATED_PLACE = MEASURED_HALF  # the position after which everything is a repetition
LAYER_EXAMPLES = {"L1": "learned_previous", "L2": "learned_copy"}  # the example whose layer it is


def setup_for_layer(layer: str, network: str, text: str) -> Setup:
    """The run of a layer."""
    return Setup(LAYER_EXAMPLES[layer], text, network=network)


def head_colours() -> dict[str, str]:
    """One a head, by its name."""
    own = current_palette()
    return {"L1H1": own.q, "L1H2": own.v, "L2H1": own.k, "L2H2": own.share}


# ---- heads appear ----------------------------------------------------------------------------------------------------
@cache_by_setup
def measure_head_scores(network: str) -> dict[str, list[list[float]]]:
    """How much each head looks back, and behind the last time, by kind, layer and head."""
    found = find_network(network).measure(head_scores)
    return {kind: scores.tolist() for kind, scores in found.items()}


def find_most_copying_head(network: str) -> str:
    """The head of the last layer that looks behind the last time most."""
    scores = measure_head_scores(network)["induction"]
    return max((name for name in HEAD_PLACES if name.startswith("L2")), key=lambda name: get_head_score(scores, name))


def get_head_score(scores: list[list[float]], name: str) -> float:
    """A head's score."""
    layer, head = HEAD_PLACES[name]
    return scores[layer][head]


def show_heads_appearing(of: TrainingRecord) -> None:
    """Two scores of every head against the steps of training."""
    kind = choose_option("score", ("previous", "induction"))
    steps = list(of.networks)
    found = {step: measure_head_scores(of.networks[step])[kind] for step in steps}
    drawn = []
    for name, colour in head_colours().items():
        drawn.append(Curve(name, steps, [get_head_score(found[step], name) for step in steps], colour))
    st.markdown(say(f"lessons.induction.about_{kind}"))
    x = Axis(say("lessons.induction.axis_step"), 0, max(steps))
    y = share_axis(say(f"lessons.induction.axis_{kind}"))
    show_curve_chart(
        curves(drawn, x, y, current_palette(), height=240), "induction_appear", say("lessons.induction.alt_appear")
    )


# ---- what is foretold of any text ------------------------------------------------------------------------------------
@cache_by_setup
def cached_foretold_run(network: str, text: str, off: tuple[str, ...]) -> Trace:
    """The last layer's run, with how probable each symbol was held that came next, without some heads."""
    return with_next_probabilities(trace_for(setup_for_layer("L2", network, text)), find_network(network), text, off)


def show_foretold_text(network: str, text: str, off: tuple[str, ...]) -> None:
    """How probable the symbol that came next was held after each symbol."""
    trace = cached_foretold_run(network, text, off)
    names = place_names(trace, "T", trace.sizes()["T"])
    pairs = [say("lessons.induction.pair", before=before, after=after) for before, after in pairwise(names)]
    st.markdown(say("lessons.induction.typed"))
    if not pairs:
        return
    runs, rows = {"": trace}, [row_of(say("lessons.induction.row_foretold"), trace, "foretold", (0,))]
    picture = bar_rows(
        rows, pairs, picture_texts_for(trace), current_palette(), get_opened_cell("typed", runs), whole=True
    )
    show_picture("typed", picture, runs, say("lessons.induction.row_foretold"))


# ---- one layer cannot ------------------------------------------------------------------------------------------------
def show_one_layer() -> None:
    """Accuracy by position of one layer beside two."""
    own = {"two": get_training_record("copy_two"), "one": get_training_record("copy_one")}
    colours = {"two": current_palette().share, "one": current_palette().k}
    drawn, told = [], {}
    for name, of in own.items():
        figures = of.figures_at(max(of.steps))
        drawn.append(Curve(say(f"lessons.induction.layers_{name}"), of.places, figures, colours[name]))
        told[name] = spoken_share(repeated_share(figures))
    st.markdown(say("lessons.induction.one_layer", **told))
    x = Axis(say("lessons.induction.axis_place"), min(own["two"].places), max(own["two"].places))
    y = share_axis(say("lessons.induction.axis_right"))
    show_curve_chart(
        curves(drawn, x, y, current_palette(), height=240), "induction_layers", say("lessons.induction.alt")
    )


# ---- each layer's run ------------------------------------------------------------------------------------------------
def show_layer_runs(network: str, text: str) -> None:
    """The maps of both heads of a layer, and its run in the workbench."""
    layer = choose_option("layer", tuple(LAYER_EXAMPLES))
    setup = setup_for_layer(layer, network, text)
    trace = trace_for(setup)
    done = max(
        get_head_score(measure_head_scores(network)[LAYER_BEHAVIOURS[layer]], name)
        for name in HEAD_PLACES
        if name.startswith(layer)
    )
    learned = "learned" if done > MIN_BEHAVIOUR_SHARE else "not_yet"
    st.markdown(say(f"lessons.induction.{learned}_{layer}", share=spoken_share(done)))
    drawn = [name for name in HEAD_PLACES if name.startswith(layer)]
    show_side_by_side(
        *(make_layer_head_map(picture, name, trace) for picture, name in zip(("left", "right"), drawn, strict=True))
    )
    workbench_door(setup, "layers")


def make_layer_head_map(picture: str, name: str, trace: Trace) -> RunPicture:
    """The map of one head in its layer's run. picture: its name."""
    _, head = HEAD_PLACES[name]
    return make_weights_map(
        picture, trace, Selection(0, head, head, 0), name, PAGE_WIDTH_PX, LAYER_MAP_CELL_PX, outlined=False
    )
