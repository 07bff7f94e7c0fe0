"""Shows the open head of a recorded model step by step: the arithmetic of each number, and the proof of its layer."""

import streamlit as st

from attention_core import Trace
from attention_core.explanation.formula import formula
from attention_core.inputs.tokenizer import printable_token
from attention_core.mechanism.operations import kv_head
from attention_core.verification.proof import Proof, prove
from pages.lessons.pictures import show_step_picture
from pages.maps.given_file import GivenFile
from pages.maps.model_folder import name_faults
from pages.panels.link_controls import choose_option
from pages.panels.proof import describe_agreement
from pages.runs.checkpoint_store import RecordedText
from pages.session.labels import Selection, current_palette, formula_names, inline_step_name
from pages.site.words import escape_markdown, say

STEP = "shows"  # link key of the step that is shown
PICTURE = "recorded"  # name of the picture in links
MAX_PROVEN_NUMBERS = 1_000_000  # most numbers of a layer that are proven whenever it is opened; more take seconds


def show_steps(given: GivenFile) -> None:
    """Shows the steps of the open head from q and k to its output, and the proof of its layer."""
    layer, head = given.opened
    shown, maps = given.view.maps, given.recorded.maps
    number = maps.number_of(given.view.group, layer)
    trace = maps.recording.run(number).trace.labelled(T=shown.shown_queries, S=shown.shown_keys)
    step = choose_option(STEP, list(trace.computed()), "weights", words=inline_step_name)
    st.latex(formula(trace, step, current_palette().families(), formula_names(trace)))
    _, H, T, _ = trace["weights"].shape
    key_value_head = kv_head(head, H, trace["k"].shape[1])
    show_step_picture(PICTURE, trace, step, Selection(batch=0, head=head, kv=key_value_head, query=T - 1))
    st.caption(tell_layer(given.recorded, number, trace))


def tell_layer(text: RecordedText, number: int, trace: Trace) -> str:
    """Returns the sentences about the proof of a layer: against the model, and of each number against other code."""
    row = text.proof[number]
    figures = {"apart": row.apart, "bound": row.bound}
    if row.apart is None:
        figures = {"apart": row.output_apart, "bound": row.output_bound}
    told = {name: f"{figure or 0:.1e}" for name, figure in figures.items()}
    layer = escape_markdown(printable_token(row.layer))
    key = "layer_proven" if row.passed else "layer_red"
    said = say(f"lessons.maps.model.{key}", layer=layer, told=name_faults(row), **told)
    return f"{said} {tell_numbers(trace)}"


def tell_numbers(trace: Trace) -> str:
    """Returns the sentence that says whether other code has recomputed every number of a layer."""
    if sum(step.value.numel() for step in trace.steps.values()) > MAX_PROVEN_NUMBERS:
        return ""
    proof: Proof = prove(trace)
    return say("lessons.maps.model.numbers", told=describe_agreement(proof))
