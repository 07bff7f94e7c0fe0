"""The lesson on cross-attention, drawer "context_vector": a context vector at every step?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.explanation.facts import accident, row_fact
from attention_core.inputs.handmade_heads import build_gates
from attention_core.inputs.matrix_text import to_text
from attention_core.record.number_text import format_fixed, format_row
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_step_picture
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup


def show_context_vector(forward: Setup) -> None:
    """Shows c_t = sum of alpha_ti h_i, with e_ti = s_t h_i or the additive score: decoder steps by source words.

    forward: the run in which the English sentence asks the Chinese one."""
    score = choose_option("energy", ("dot", "additive"))
    setup = setup_with_score(forward, score)
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    if accident(trace, row_fact(trace, 0, selection.query)):
        st.markdown(fact_sentence(trace, selection))
    else:
        say_context_vector(trace, selection.query, score)
    show_step_picture("context_vector", trace, "head_outputs", selection)
    link_to_workbench(setup, "context_vector")


def setup_with_score(forward: Setup, score: str) -> Setup:
    """Makes the run whose keys and values are the vectors of the source; an additive score is built by hand."""
    setup = replace(forward, score=score, w_k="none", w_v="none", w_o="none")
    if score == "dot":
        return setup
    width = inputs_of(forward).matrices["x"].shape[1]
    gates = build_gates(width)
    texts = {name: to_text(matrix, name) for name, matrix in gates.items()}
    return replace(setup, **texts)


def say_context_vector(trace: Trace, query: int, score: str) -> None:
    """Says what the score and the weight of the strongest source word are, and which context vector comes of it."""
    energies = trace["scores"][0, 0, query]  # (S,)
    weights = trace["weights"][0, 0, query]  # (S,)
    context = trace["head_outputs"][0, 0, query]  # (d_v,)
    best = int(weights.argmax())
    show_sentence(
        f"lessons.cross.energy_{score}",
        query=quote_token(trace, "T", query),
        key=quote_token(trace, "S", best),
        energy=format_fixed(energies[best].item()),
        alpha=format_fixed(weights[best].item()),
        c=format_row(context.tolist()),
        d_s=trace.step("q").shape[-1],
        d_h=trace.step("k").shape[-1],
    )
