"""Draws the accordions of the lesson on copying, and its page's arcs, measurements and attention maps."""

from itertools import pairwise

import streamlit as st

from attention_core import Trace
from attention_core.analysis.head_composition import COMPOSITIONS
from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.charts import single_picture
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.layout import panel
from attention_core.learned.insight.copying_heads import (
    HEAD_PLACES,
    ITSELF,
    accuracy_without_heads,
    compose_heads,
    composition_trace,
    expected_next,
    finds_itself,
    head_scores,
    layer_traces,
    next_probabilities,
    repeated_share,
    with_next_probabilities,
)
from attention_core.learned.tasks.repeats import SYMBOLS
from attention_core.learned.training.courses import Figures
from attention_core.record.number_text import format_fixed, format_percent
from pages import components
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson
from pages.lessons.learned.learning import TrainingRecord, get_training_record, share_axis
from pages.lessons.opened_cell import get_opened_cell, get_opened_ref, handle_picture_click
from pages.lessons.pictures import RunPicture, make_weights_map, show_arithmetic_under, show_bar_rows, show_side_by_side
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option
from pages.panels.live_choice import LiveChoice, describe_followed
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.collected import collected, show_moving
from pages.session.labels import Selection, current_palette, picture_texts_for, spoken_share
from pages.setup.setup import Setup, make_setup
from pages.site.words import get_text_template, say


# ---- cached measurements: accuracy, predictions, and each head's scores "previous" and "induction" -------------------
@cache_by_setup
def measure_accuracy_without_heads(network: str, off: tuple[str, ...]) -> Figures:
    """Measures the accuracy of a network at each position of a text, with some heads ablated.

    off: the names of the ablated heads.
    """
    return find_network(network).measure(lambda model: accuracy_without_heads(model, off))


@cache_by_setup
def predict_next_symbol(network: str, text: str, off: tuple[str, ...]) -> tuple[str, float]:
    """Returns the most probable symbol after a text, and its probability. off: the ablated heads."""
    return expected_next(find_network(network), text, off)


@cache_by_setup
def measure_head_scores(network: str) -> dict[str, list[list[float]]]:
    """Measures how much each head attends to the previous symbol, and to the symbol after an earlier occurrence.

    Returns {kind of score, "previous" or "induction": for each layer, the score of each head}.
    """
    tensors = find_network(network).measure(head_scores)
    return {kind: scores.tolist() for kind, scores in tensors.items()}


def list_heads_of_layer(layer: str) -> list[str]:
    """Lists the heads of a layer by name."""
    return [name for name in HEAD_PLACES if name.startswith(layer)]


def get_head_score(network: str, kind: str, name: str) -> float:
    """Returns a head's score of one kind: "previous" (attends to the symbol before) or "induction" (copies)."""
    layer, head = HEAD_PLACES[name]
    return measure_head_scores(network)[kind][layer][head]


def head_colours() -> dict[str, str]:
    """Returns the colour of each head, by its name."""
    palette = current_palette()
    return {
        "L1H1": palette.q,
        "L1H2": palette.v,
        "L2H1": palette.k,
        "L2H2": palette.share,
    }


# ---- the runs: one for each layer of a network, and the maps of its heads --------------------------------------------
LAYER_EXAMPLES = {"L1": "learned_previous", "L2": "learned_copy"}  # layer -> the workbench's example for it
LAYER_MAP_CELL_PX = 30.0  # px: side of a cell, so that two maps fit side by side


def setup_for_layer(layer: str, network: str, text: str) -> Setup:
    """Returns the Setup of one layer of a network, with a text as input."""
    return make_setup(example=LAYER_EXAMPLES[layer], text=text, network=network)


def make_layer_head_map(picture: str, name: str, trace: Trace) -> RunPicture:
    """Returns the attention map of one head. trace: the run of the head's layer.

    picture: the key of the picture on the page. name: the name of the head.
    """
    _, head = HEAD_PLACES[name]
    return make_weights_map(
        picture,
        trace,
        Selection(batch=0, head=head, kv=head, query=0),
        name,
        PAGE_WIDTH_PX,
        LAYER_MAP_CELL_PX,
        outlined=False,
    )


# ---- the picture of the page: an arc from each symbol to those that a head attends to --------------------------------
ARCS_PICTURE = "arcs"  # name of the picture in the session state, which stores its open cell
LAYER_NAMES = ("L1", "L2")
LEAST_DRAWN_WEIGHT = 0.02  # the arc of a smaller weight would be invisible
ARC_TEXTS = ("alt", "place", "copies", "looks", "nowhere")
Off = tuple[str, ...]  # the names of the heads that are ablated


@cache_by_setup
def run_layers(network: str, text: str, off: Off) -> dict[str, Trace]:
    """Runs each layer of a network on a text; returns {name of the layer: run}.

    off: the ablated heads.
    """
    return dict(zip(LAYER_NAMES, layer_traces(find_network(network), text, off), strict=True))


@cache_by_setup
def describe_arcs(network: str, text: str, off: Off) -> dict[str, object]:
    """Returns the data of a network's attention for the browser: the arcs of each head, and the likeliest symbol after
    each symbol.

    off: the ablated heads, whose arcs are left out.
    """
    runs = run_layers(network, text, off)
    arcs = {}
    for name, (layer, head) in HEAD_PLACES.items():
        if name not in off:
            arcs[name] = list_arcs(runs[LAYER_NAMES[layer]], head)
    shares, numbers = next_probabilities(find_network(network), text, off).max(-1)  # (T,) each
    expected = [[SYMBOLS.of[number], share] for number, share in zip(numbers.tolist(), shares.tolist(), strict=True)]
    return {"arcs": arcs, "next": expected}


def list_arcs(trace: Trace, head: int) -> list[list[float]]:
    """Returns the weights of a head that are at least LEAST_DRAWN_WEIGHT, each as [query, key, weight]."""
    weights = trace["weights"][0, head]  # (T, S)
    places = (weights >= LEAST_DRAWN_WEIGHT).nonzero()  # (arcs, 2)
    return [[query, key, weights[query, key].item()] for query, key in places.tolist()]


def show_arcs(record: TrainingRecord, step: LiveChoice, text: str, off: Off) -> None:
    """Shows the attention arcs at each step of training, and below them the arithmetic of the opened weight."""
    network = record.network_at(step.value)
    runs = run_layers(network, text, off)

    def handle_opening(arc: tuple[int, int, int, int]) -> None:
        layer, *cell = arc
        handle_picture_click(ARCS_PICTURE, runs, {"step": f"{LAYER_NAMES[layer]}:weights", "index": (0, *cell)})

    frames = [describe_arcs(record.network_at(each), text, off) for each in step.options]
    data = make_arcs_data(runs["L2"], frames, off) | {"slider": describe_followed(step)}
    show_moving(
        components.symbol_arcs,
        data=data,
        key="induction_arcs",
        given={"layers": len(LAYER_NAMES)},
        on_opened=handle_opening,
    )
    scores = {name: get_head_score(network, "induction", name) for name in list_heads_of_layer("L2")}
    map_for_files = make_layer_head_map("copying", max(scores, key=scores.__getitem__), runs["L2"])
    collected().pictures.append((map_for_files.picture, say("lessons.induction.arcs.alt")))  # files cannot show arcs
    opened = get_opened_cell(ARCS_PICTURE, runs)
    if opened:
        with st.container(border=True):
            show_arithmetic_under(ARCS_PICTURE, runs, *opened)


def make_arcs_data(trace: Trace, frames: list[dict[str, object]], off: Off) -> dict[str, object]:
    """Returns the data from which the browser draws the arcs: symbols, active heads, arcs at each training step, texts.

    frames: the arcs after each training step. off: the ablated heads.
    """
    symbols = list(trace.labels["T"])
    colours = head_colours()
    heads = []
    for name, (layer, head) in HEAD_PLACES.items():
        if name not in off:
            heads.append({"name": name, "at": [layer, head], "above": layer == 1, "colour": colours[name]})
    return {
        "run": " ".join(symbols),
        "symbols": symbols,
        "heads": heads[::-1],
        "frames": frames,
        "palette": vars(current_palette()),
        "text": {name: get_text_template(f"lessons.induction.arcs.{name}") for name in ARC_TEXTS},
    }


# ---- drawer "one_layer": is one layer enough? ------------------------------------------------------------------------
def show_one_layer() -> None:
    """Shows the accuracy by position of a network with one layer and of a network with two layers, side by side."""
    two = get_training_record("copy_two")
    one = get_training_record("copy_one")
    show_sentence(
        "lessons.induction.one_layer",
        one=spoken_share(repeated_share(last_figures(one))),
        two=spoken_share(repeated_share(last_figures(two))),
    )
    palette = current_palette()
    drawn = [
        make_accuracy_curve("two", two, palette.share),
        make_accuracy_curve("one", one, palette.k),
    ]
    x = Axis(say("lessons.induction.axis_place"), min(two.places), max(two.places))
    y = share_axis(say("lessons.induction.axis_right"))
    picture = curves(drawn, x, y, palette, height=240)
    show_curve_chart(picture, "induction_layers", say("lessons.induction.alt"))


def last_figures(record: TrainingRecord) -> tuple[float, ...]:
    """Returns the accuracy by position after the last step of a training."""
    return record.figures_at(max(record.steps))


def make_accuracy_curve(name: str, record: TrainingRecord, colour: str) -> Curve:
    """Returns the curve of the accuracy by position at the end of a training."""
    title = say(f"lessons.induction.layers_{name}")
    return Curve(title, record.places, last_figures(record), colour)


# ---- drawer "layers": what does each layer attend to, and how do two heads work together? ----------------------------
LAYER_BEHAVIOURS = {"L1": "previous", "L2": "induction"}  # layer -> the head score that training raises in it
MIN_BEHAVIOUR_SHARE = 0.5  # a head has learned the behaviour if its score exceeds this


def show_layers(record: TrainingRecord, network: str, text: str) -> None:
    """Shows the attention maps of one layer's heads, or how a head of layer 2 reads the output of a head of layer 1."""
    chosen = choose_option("layer", (*LAYER_EXAMPLES, "both"))
    if chosen == "both":
        show_composed_heads(record, network, text)
    else:
        show_layer_run(chosen, network, text)


def show_layer_run(layer: str, network: str, text: str) -> None:
    """Shows the attention maps of both heads of a layer, and a link to the layer's run in the workbench."""
    setup = setup_for_layer(layer, network, text)
    trace = trace_for(setup)
    left, right = list_heads_of_layer(layer)
    say_layer_behaviour(network, layer)
    show_side_by_side(
        make_layer_head_map("left", left, trace),
        make_layer_head_map("right", right, trace),
    )
    link_to_workbench(setup, "layers")


def say_layer_behaviour(network: str, layer: str) -> None:
    """Shows whether a head of the layer has learned the layer's behaviour (previous symbol or induction), and the best
    head's score.
    """
    kind = LAYER_BEHAVIOURS[layer]
    scores = [get_head_score(network, kind, name) for name in list_heads_of_layer(layer)]
    largest = max(scores)
    learned = "learned" if largest > MIN_BEHAVIOUR_SHARE else "not_yet"
    show_sentence(f"lessons.induction.{learned}_{layer}", share=spoken_share(largest))


# ---- drawer "layers", both layers: how a head of layer 2 reads the output of a head of layer 1 -----------------------
def show_composed_heads(record: TrainingRecord, network: str, text: str) -> None:
    """Shows how a head of layer 2 reads the output of a head of layer 1.

    The accordion shows the weights of the head of layer 1, the scores of the head of layer 2 whose keys are computed
    from the first head's output, and the composition scores of every pair of heads.
    """
    show_sentence("lessons.induction.composed")
    with st.container(horizontal=True):
        first = choose_option("writes", (*list_heads_of_layer("L1"), ITSELF))
        second = choose_option("asks", tuple(list_heads_of_layer("L2")))
    composed = make_composed_map(find_composed(network, text, first), first, second)
    if first == ITSELF:
        show_side_by_side(composed)
    else:
        before = make_layer_head_map("before", first, trace_for(setup_for_layer("L1", network, text)))
        show_side_by_side(before, composed)
    say_what_is_asked(network, first, second)
    show_composition_scores(record, network)


@cache_by_setup
def find_composed(network: str, text: str, first: str) -> Trace:
    """Runs layer 2 on the symbols of a text, with keys computed from the output of `first`, a head of layer 1."""
    return compose_heads(find_network(network), text, first)


@cache_by_setup
def count_finding(network: str, first: str, second: str) -> list[bool]:
    """Returns for each symbol whether its query in head `second` has the highest score with the key computed from the
    same symbol.

    The keys are computed from the output of `first`, a head of layer 1.
    """
    return finds_itself(find_network(network), first, second).tolist()


@cache_by_setup
def measure_composition(network: str) -> Trace:
    """Measures the composition scores of every pair of heads: how strongly a head of layer 2 reads a head of layer
    1.
    """
    return composition_trace(find_network(network))


def make_composed_map(trace: Trace, first: str, second: str) -> RunPicture:
    """Draws the scores of a head of layer 2, with a row per query and a column per key.

    The keys are computed from the output of `first`, a head of layer 1.
    """
    _, head = HEAD_PLACES[second]
    title = say(f"lessons.induction.title_{'itself' if first == ITSELF else 'composed'}", first=first, second=second)
    picture = single_picture(
        [panel(trace, "scaled_scores", {"H": head})],
        trace,
        picture_texts_for(trace),
        current_palette(),
        [title],
        get_opened_ref("composed", trace),
    )
    return RunPicture("composed", picture, {"": trace}, title)


def say_what_is_asked(network: str, first: str, second: str) -> None:
    """Shows for how many symbols the query has its highest score with the key computed from the same symbol.

    first: the head of layer 1 from whose output the keys are computed. second: the head of layer 2 that computes the
    queries.
    """
    found = count_finding(network, first, second)
    values = {"first": first, "second": second, "found": sum(found), "count": len(found)}
    if first == ITSELF:
        show_sentence("lessons.induction.asks_itself", **values)
    else:
        share = spoken_share(get_head_score(network, "previous", first))
        show_sentence("lessons.induction.asks_composed", share=share, **values)


def show_composition_scores(record: TrainingRecord, network: str) -> None:
    """Shows the composition scores as a table: a row per pair of heads, a column for each of q, k and v."""
    scores = measure_composition(network)
    drawn = measure_composition(record.network_at(0))
    later, earlier = scores.labels["later"], scores.labels["earlier"]
    pairs = [(i, j) for i in range(len(later)) for j in range(len(earlier))]
    table = {say("lessons.induction.pair_of_heads"): [f"{earlier[j]} → {later[i]}" for i, j in pairs]}
    for name in COMPOSITIONS:
        step = scores[f"{name}_composition"]
        table[say(f"lessons.induction.composition.{name}")] = [format_fixed(float(step[pair])) for pair in pairs]
    st.table(table, hide_index=True, width="content")
    least, most = drawn["k_composition"].min(), drawn["k_composition"].max()
    ends = {"least": format_fixed(float(least)), "most": format_fixed(float(most))}
    show_sentence("lessons.induction.composition_says", **ends)


# ---- drawer "appear": when do the heads appear? ----------------------------------------------------------------------
LITTLE_SHARE, LEARNED_SHARE = 0.1, 0.9  # right answers: below 10 %, copying has not begun; above 90 %, it is learned


def show_appearing_heads(record: TrainingRecord) -> None:
    """Shows a chosen score (previous symbol or induction) of every head by the step of training."""
    kind = choose_option("score", ("previous", "induction"))
    drawn = []
    for name, colour in head_colours().items():
        scores = [get_head_score(network, kind, name) for network in record.networks.values()]
        drawn.append(Curve(name, record.steps, scores, colour))
    show_sentence(f"lessons.induction.about_{kind}")
    tell_growth(record)
    x = Axis(say("lessons.induction.axis_step"), 0, max(record.steps))
    y = share_axis(say(f"lessons.induction.axis_{kind}"))
    picture = curves(drawn, x, y, current_palette(), height=240)
    show_curve_chart(picture, "induction_appear", say("lessons.induction.alt_appear"))


def tell_growth(record: TrainingRecord) -> None:
    """Shows between which two checkpoints the network learned to copy, and how many checkpoints lie between them.

    Shows nothing if copying was not learned, or if no checkpoint lies between these two, as with a large learning rate,
    because a sudden rise cannot be recognised then.
    """
    shares = {step: repeated_share(record.figures_at(step)) for step in record.steps}
    begun = [step for step, share in shares.items() if share < LITTLE_SHARE]
    done = [step for step, share in shares.items() if share > LEARNED_SHARE]
    if not begun or not done:
        return
    between = [step for step in record.steps if max(begun) < step < min(done)]
    if not between:
        return
    st.markdown(
        say(
            "lessons.induction.growth",
            first=max(begun),
            little=format_percent(shares[max(begun)]),
            last=min(done),
            much=format_percent(shares[min(done)]),
            between=len(between),
            whole=max(record.steps),
        )
    )


# ---- drawer "typed": what is predicted in my text? -------------------------------------------------------------------
@cache_by_setup
def cached_prediction_run(network: str, text: str, off: tuple[str, ...]) -> Trace:
    """Returns layer 2's run on a text, with the predicted probability of each next symbol, from a cache.

    off: the ablated heads of the prediction.
    """
    trace = trace_for(setup_for_layer("L2", network, text))
    return with_next_probabilities(trace, find_network(network), text, off)


def show_predicted_text(network: str, text: str, off: tuple[str, ...]) -> None:
    """Shows the predicted probability of each next symbol of a text.

    off: the ablated heads."""
    trace = cached_prediction_run(network, text, off)
    symbols = list_place_names(trace, "T")
    pairs = [say("lessons.induction.pair", before=before, after=after) for before, after in pairwise(symbols)]
    show_sentence("lessons.induction.typed")
    if not pairs:
        return
    title = say("lessons.induction.row_foretold")
    rows = [row_of(title, trace, "foretold", (0,))]
    show_bar_rows("typed", rows, pairs, {"": trace}, trace, title, whole=True)


LESSON = Lesson(
    "induction",
    drawers={
        "one_layer": show_one_layer,
        "layers": show_layers,
        "appear": show_appearing_heads,
        "typed": show_predicted_text,
    },
    code=("q", "k", "scores", "weights", "head_outputs", "output"),
)
