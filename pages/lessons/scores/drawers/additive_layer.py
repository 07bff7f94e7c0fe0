"""The lesson on scores, drawer "inside": what happens inside the additive score?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.inputs.matrix_edits import scale_to_text
from attention_core.record.number_text import format_fixed, format_row
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_bar_rows, show_step_picture
from pages.lessons.scores.score_settings import SCORE_SETTINGS, get_additive_bound
from pages.lessons.sentences import list_place_labels, show_sentence
from pages.panels.link_controls import slide
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import Selection
from pages.setup.setup import Setup
from pages.site.words import say

GROWTH_FACTORS = (1, 2, 5, 10, 100)
BOUNDED_BARS_HEIGHT_PX = 150  # pixels: the field of the bars beside the layer


def show_additive_layer(setup: Setup, selection: Selection) -> None:
    """Shows the tanh layer of the asking word with every word, and its scores against their bound as q and k grow."""
    with st.container(width=420):
        factor = slide("grow", GROWTH_FACTORS, 1)
    additive = replace(setup, **SCORE_SETTINGS["additive"])
    matrices = inputs_of(additive).matrices
    larger = {name: scale_to_text(matrices[name], factor, name) for name in ("w_q", "w_k")}
    larger_bias = scale_to_text(matrices["b_q"], factor, "b_q")
    grown = replace(additive, head=selection.head, b_q=larger_bias, **larger)
    units = (say("lessons.scores.unit_person"), say("lessons.scores.unit_animal"))
    trace = trace_for(grown).labelled(A=units)
    product = trace_for(replace(setup, **SCORE_SETTINGS["dot"], **larger))
    row = (selection.batch, selection.head, selection.query)
    largest = trace["scores"][row].abs().max()
    largest_product = product["scores"][row].abs().max()
    show_sentence(
        "lessons.scores.bounded",
        largest=format_fixed(largest.item()),
        bound=format_fixed(get_additive_bound(trace)),
        product=format_fixed(largest_product.item()),
    )
    with st.container(horizontal=True):
        with st.container(width="content"):
            show_step_picture("hidden", trace, "hidden", selection)
        with st.container(width="content"):
            show_bounded_scores(trace, row)
    link_to_workbench(grown, "inside")


def show_bounded_scores(trace: Trace, row: tuple[int, int, int]) -> None:
    """Shows a row of additive scores in a field that reaches to their bound."""
    bound = get_additive_bound(trace)
    v_a = format_row(trace["v_a"].tolist())
    title = say("lessons.scores.row_additive", v=v_a, bound=format_fixed(bound))
    show_bar_rows(
        "bounded",
        [row_of(title, trace, "scores", row)],
        list_place_labels(trace, "S"),
        {"": trace},
        trace,
        say("step.alt", step="scores"),
        height=BOUNDED_BARS_HEIGHT_PX,
        reach=bound,
    )
