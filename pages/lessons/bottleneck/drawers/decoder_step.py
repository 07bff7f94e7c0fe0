"""The lesson on one vector, drawer "one_step": what happens in one decoder step?"""

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.record.number_text import format_fixed
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import (
    SMALL_MAP_CELL_PX,
    make_weights_map,
    show_bar_rows,
    show_run_picture,
    show_step_picture,
)
from pages.lessons.sentences import list_place_labels, list_place_names, show_sentence
from pages.panels.link_controls import pick_place
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_decoder_step(setup: Setup, step: str) -> None:
    """Shows all weights, then the way from the decoder's state to the context vector: e_ti, alpha_ti, c_t, each with
    its arithmetic. step: of the training."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    title = say("lessons.bottleneck.map", step=step)
    show_run_picture(make_weights_map("alignment", trace, selection, title, most=SMALL_MAP_CELL_PX))
    names = list_place_names(trace, "T")
    with st.container(width=220):
        t = pick_place("t", names, selection.query)
    weights = trace["weights"][0, 0, t]  # (S,)
    best = int(weights.argmax())
    energy = trace["scores"][0, 0, t, best].item()
    alpha = format_fixed(weights[best].item())
    key = escape_markdown(list_place_names(trace, "S")[best])
    show_sentence(
        f"lessons.bottleneck.energy_{setup.score}",
        written=escape_markdown(names[t]),
        best=key,
        e=format_fixed(energy),
        alpha=alpha,
    )
    show_energies_and_weights(trace, t)
    show_sentence("lessons.bottleneck.context", best=key, alpha=alpha)
    show_step_picture("context", trace, "head_outputs", selection)
    link_to_workbench(setup, "one_step")


def show_energies_and_weights(trace: Trace, t: int) -> None:
    """Shows the scores of a step of the decoder, and below them the weights."""
    energy_title = say("lessons.bottleneck.row_e")
    energies = row_of(energy_title, trace, "scores", (0, 0, t))
    weight_title = say("lessons.bottleneck.row_alpha")
    weights = row_of(weight_title, trace, "weights", (0, 0, t))
    symbols = list_place_labels(trace, "S")
    alt = say("lessons.bottleneck.alt_step")
    show_bar_rows("one_step", [energies, weights], symbols, {"": trace}, trace, alt, whole=True)
