"""The lesson on cost: a router chooses the heads of each word of a sentence; what is not chosen is not computed."""

import streamlit as st

from attention_core import Trace
from attention_core.record.number_text import format_fixed, format_grouped, format_percent
from attention_core.variants.routing import RoutedHeads, route_heads
from attention_core.variants.sparse import relative_error
from pages.lessons.sentences import list_place_names, quote_token, show_sentence
from pages.panels.link_controls import choose_option, sentence_box
from pages.panels.markdown_table import make_table
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import current_language, say

EXAMPLES = {"en": "en_it", "zh": "zh_ta"}
TOPS = {"one": 1, "both": 2}  # heads of a word, by the option


def show_routed_heads() -> None:
    """Asks for a sentence and how many heads a word may have; shows where a router sends each word."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(Setup(example=EXAMPLES[current_language()]), "routed")
        top = choose_option("top", tuple(TOPS), width="content")
    trace = trace_for(setup)
    routed = route_heads(trace, TOPS[top])
    st.markdown(make_gate_table(trace, routed))
    show_sentence(
        "lessons.cost.routed",
        computed=format_grouped(routed.computed),
        pairs=format_grouped(routed.pairs),
        error=format_percent(relative_error(routed.output, trace["output"][0])),
    )


def make_gate_table(trace: Trace, routed: RoutedHeads) -> str:
    """A row a word: its gates, bold where the head is computed for it."""
    heads = list_place_names(trace, "H")
    rows = []
    for place, (gates, chosen) in enumerate(zip(routed.gates.tolist(), routed.chosen.tolist(), strict=True)):
        cells = [write_gate(gate, is_chosen) for gate, is_chosen in zip(gates, chosen, strict=True)]
        rows.append([quote_token(trace, "T", place), *cells])
    return make_table([say("lessons.cost.routed_word"), *heads], rows)


def write_gate(gate: float, is_chosen: bool) -> str:
    """A gate as a cell of the table."""
    text = format_fixed(gate)
    return say("lessons.cost.routed_to", gate=text) if is_chosen else text
