"""The lesson on copying, drawer "layers", both layers: how a head of the second reads what one of the first wrote."""

import streamlit as st

from attention_core import Trace
from attention_core.analysis.composition import COMPOSITIONS
from attention_core.drawing.charts import single_picture
from attention_core.explanation.layout import panel
from attention_core.learned.insight.composed_heads import ITSELF, compose_heads, composition_trace, finds_itself
from attention_core.learned.insight.copying_heads import HEAD_PLACES
from attention_core.record.number_text import format_fixed
from pages.lessons.induction.head_scores import get_head_score, list_heads_of_layer
from pages.lessons.induction.layer_runs import make_layer_head_map, setup_for_layer
from pages.lessons.learned.learning import TrainingRecord
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import RunPicture, show_side_by_side
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.labels import current_palette, picture_texts_for, spoken_share
from pages.site.words import say


def show_composed_heads(record: TrainingRecord, network: str, text: str) -> None:
    """Shows the weights of a head of the first layer, the scores of a head of the second whose keys are that head's
    output, and the composition scores of every pair of heads."""
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
    """Runs the second layer on the symbols of a text, its keys computed from the output of a head of the first."""
    return compose_heads(find_network(network), text, first)


@cache_by_setup
def count_finding(network: str, first: str, second: str) -> list[bool]:
    """For each symbol, whether its highest score is with the key that the first head computed from itself."""
    return finds_itself(find_network(network), first, second).tolist()


@cache_by_setup
def measure_composition(network: str) -> Trace:
    """Measures the composition scores of every pair of heads."""
    return composition_trace(find_network(network))


def make_composed_map(trace: Trace, first: str, second: str) -> RunPicture:
    """Draws the scores of a head of the second layer: a row a query, a column a symbol that the first head wrote."""
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
    """Shows how many symbols have their highest score with what the first head wrote of themselves."""
    found = count_finding(network, first, second)
    values = {"first": first, "second": second, "found": sum(found), "count": len(found)}
    if first == ITSELF:
        show_sentence("lessons.induction.asks_itself", **values)
    else:
        share = spoken_share(get_head_score(network, "previous", first))
        show_sentence("lessons.induction.asks_composed", share=share, **values)


def show_composition_scores(record: TrainingRecord, network: str) -> None:
    """Shows the composition scores as a table: a row a pair of heads, a column for each of q, k and v."""
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
