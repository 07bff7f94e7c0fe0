"""Shows how the open head of a recorded model is computed, step by step, with each number's arithmetic and the layer's
proof.
"""

from urllib.parse import urlencode

import streamlit as st

from attention_core import Trace
from attention_core.documents.provenance import Provenance
from attention_core.explanation.formula import formula
from attention_core.inputs.tokenizer import printable_token
from attention_core.mechanism.operations import kv_head
from attention_core.verification.proof import Proof, prove
from pages.export.document_texts import list_sizes, write_document_texts
from pages.export.run_files import ExportedRun, show_all_files, show_documents, show_handouts, show_step_files
from pages.lessons.pictures import show_step_picture
from pages.maps.given_file import GivenFile
from pages.maps.head_view import list_origins
from pages.maps.model_folder import name_faults
from pages.panels.lesson_choices import get_choice, get_lesson_link
from pages.panels.link_controls import choose_option
from pages.panels.proof import describe_agreement
from pages.runs.checkpoint_store import RecordedText
from pages.session.addresses import page_address
from pages.session.labels import Selection, current_palette, formula_names, typeset_step_name
from pages.site.words import current_language, escape_markdown, say

STEP = "shows"  # link key of the step that is shown
PICTURE = "recorded"  # name of the picture in links
MAX_PROVEN_NUMBERS = 1_000_000  # a layer with more numbers is not proven when it is opened, because that takes seconds


def show_steps(given: GivenFile) -> None:
    """Shows the steps of the open head from q and k to its output, and the proof of the head's layer."""
    layer, head = given.opened
    shown, maps = given.view.maps, given.recorded.maps
    number = maps.number_of(given.view.group, layer)
    trace = maps.recording.run(number).trace.labelled(T=shown.shown_queries, S=shown.shown_keys)
    step = choose_option(STEP, list(trace.computed()), "weights", words=typeset_step_name)
    st.latex(formula(trace, step, current_palette().families(), formula_names(trace)))
    _, H, T, _ = trace["weights"].shape
    key_value_head = kv_head(head, H, trace["k"].shape[1])
    selection = Selection(batch=0, head=head, kv=key_value_head, query=T - 1)
    show_step_picture(PICTURE, trace, step, selection)
    st.caption(tell_layer(given.recorded, number, trace))
    show_layer_export(given, trace, selection)


def show_layer_export(given: GivenFile, trace: Trace, selection: Selection) -> None:
    """Shows a popover with all downloads of the open head's layer. trace: the layer, with the words of its axes."""
    popover = st.popover(
        say("lessons.maps.model.export"), icon=":material/download:", key="export_layer", on_change="rerun"
    )
    if not popover.open:
        return
    layer, head = given.opened
    name = say("all_heads.name", layer=layer + 1, head=head + 1)
    link = get_lesson_link() | {"lang": current_language()}
    origins = list_origins(given)
    run = ExportedRun(
        trace=trace,
        selection=selection,
        provenance=Provenance(
            title=say("lessons.maps.model.export_title", model=given.name, name=name),
            link=f"{page_address()}?{urlencode(link)}",
            notes=(say("export.made_with"), *origins),
        ),
        texts=write_document_texts(trace, selection, (*origins, list_sizes(trace))),
        heading=name,
        name=f"{given.name}_{layer + 1}",
        step=get_choice(STEP, "weights", str),
        mark="layer_",
    )
    with popover, st.container(gap="xsmall"):
        show_step_files(run)
        show_handouts(run)
        show_documents(run)
        show_all_files(run)


def tell_layer(text: RecordedText, number: int, trace: Trace) -> str:
    """Returns the sentences about a layer's proof: whether it equals the model's own output, and independent code each
    number.
    """
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
    """Returns the sentence that says whether independent code (NumPy in float64) has reproduced every number of a
    layer.
    """
    if sum(step.value.numel() for step in trace.steps.values()) > MAX_PROVEN_NUMBERS:
        return ""
    proof: Proof = prove(trace)
    return say("lessons.maps.model.numbers", told=describe_agreement(proof))
