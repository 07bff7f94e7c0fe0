"""The lesson on copying, drawer "layers": what does each layer attend to, and how do two heads work together?"""

from pages.export.page_links import link_to_workbench
from pages.lessons.induction.drawers.composed_heads import show_composed_heads
from pages.lessons.induction.head_scores import get_head_score, list_heads_of_layer
from pages.lessons.induction.layer_runs import LAYER_EXAMPLES, make_layer_head_map, setup_for_layer
from pages.lessons.learned.learning import TrainingRecord
from pages.lessons.pictures import show_side_by_side
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share

LAYER_BEHAVIOURS = {"L1": "previous", "L2": "induction"}  # the score that heads of a layer learn to raise
MIN_BEHAVIOUR_SHARE = 0.5  # of a head's weight: above it, the head has learned the behaviour


def show_layers(record: TrainingRecord, network: str, text: str) -> None:
    """Shows the heads of one layer, or the composition of a head of the first with one of the second."""
    chosen = choose_option("layer", (*LAYER_EXAMPLES, "both"))
    if chosen == "both":
        show_composed_heads(record, network, text)
    else:
        show_layer_run(chosen, network, text)


def show_layer_run(layer: str, network: str, text: str) -> None:
    """Shows the maps of both heads of a layer, and a link to its run in the workbench."""
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
    """Shows whether a head of a layer has learned that layer's behaviour, and with what share of its weight."""
    kind = LAYER_BEHAVIOURS[layer]
    scores = [get_head_score(network, kind, name) for name in list_heads_of_layer(layer)]
    largest = max(scores)
    learned = "learned" if largest > MIN_BEHAVIOUR_SHARE else "not_yet"
    show_sentence(f"lessons.induction.{learned}_{layer}", share=spoken_share(largest))
