"""The picture of the lesson on copying: an arc from each symbol to those that a head attends to."""

import streamlit as st
import torch

from attention_core import Trace
from attention_core.learned.insight.copying_heads import HEAD_PLACES, layer_traces, next_probabilities
from attention_core.learned.tasks.repeats import SYMBOLS
from pages import components
from pages.lessons.induction.drawers import get_head_score, head_colours, list_heads_of_layer, make_layer_head_map
from pages.lessons.learned.learning import TrainingRecord
from pages.lessons.opened_cell import get_opened_cell, handle_picture_click
from pages.lessons.pictures import show_arithmetic_under
from pages.panels.live_choice import LiveChoice, describe_followed
from pages.runs.cache import cache_by_setup
from pages.runs.network_store import find_network
from pages.session.collected import collected, show_moving
from pages.session.labels import current_palette
from pages.site.words import get_text_template, say

ARCS_PICTURE = "arcs"  # the name of the picture in the session
LAYER_NAMES = ("L1", "L2")
LEAST_DRAWN_WEIGHT = 0.02  # the arc of a smaller weight would be invisible
ARC_TEXTS = ("alt", "place", "copies", "looks", "nowhere")
Off = tuple[str, ...]  # the names of the ablated heads


@cache_by_setup
def run_layers(network: str, text: str, off: Off) -> dict[str, Trace]:
    """Runs each layer on a text without the ablated heads; returns the runs by name of the layer."""
    return dict(zip(LAYER_NAMES, layer_traces(find_network(network), text, off), strict=True))


@cache_by_setup
def describe_arcs(network: str, text: str, off: Off) -> dict[str, object]:
    """Component data: the arcs of each head that is not ablated, and the most probable symbol after each symbol."""
    runs = run_layers(network, text, off)
    arcs = {}
    for name, (layer, head) in HEAD_PLACES.items():
        if name not in off:
            arcs[name] = list_arcs(runs[LAYER_NAMES[layer]], head)
    shares, numbers = next_probabilities(find_network(network), text, off).max(-1)  # (T,) each
    expected = [[SYMBOLS.of[number], share] for number, share in zip(numbers.tolist(), shares.tolist(), strict=True)]
    return {"arcs": arcs, "next": expected}


def list_arcs(trace: Trace, head: int) -> list[list[float]]:
    """The weights of a head from LEAST_DRAWN_WEIGHT up, each as [query, key, weight]."""
    weights = trace["weights"][0, head]  # (T, S)
    places = torch.nonzero(weights >= LEAST_DRAWN_WEIGHT)  # (arcs, 2)
    return [[query, key, weights[query, key].item()] for query, key in places.tolist()]


def show_arcs(record: TrainingRecord, step: LiveChoice, text: str, off: Off) -> None:
    """Shows the arcs after each step of training, and below them the arithmetic of the open weight."""
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
    """The data of the component: symbols, heads that are not ablated, the arcs of each step, and texts."""
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
