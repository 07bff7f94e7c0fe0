"""Shows whether the workbench can open the shown layer with the model's own matrices, and the button that does so."""

from functools import partial

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.maps.given_file import GivenFile
from pages.maps.model_folder import name_faults
from pages.panels.model_wait import wait_for
from pages.runs.recorded_setup import begin_setup
from pages.session.setup_state import adopt_setup
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import escape_markdown, say, say_refusal


def show_layer_door(given: GivenFile) -> None:
    """Shows the proof of the shown layer, and a button that opens the layer on the workbench, or why that is
    impossible.
    """
    layer, head = given.opened
    recording = given.recorded.maps.recording
    number = given.recorded.maps.number_of(given.view.group, layer)
    name = escape_markdown(printable_token(recording.layers[number]))
    try:
        row = recording.prove_from_x(number)
    except AttentionError as error:
        st.caption(say("lessons.maps.model.from_q", layer=name, told=say_refusal(error)))
        return
    if not row.passed:
        st.warning(say("lessons.maps.model.from_x_red", layer=name, told=name_faults(row)))
        return
    key = "from_x" if row.apart is not None else "from_x_outputs"
    apart, bound = (row.output_apart, row.output_bound) if row.apart is None else (row.apart, row.bound)
    output = "" if given.recorded.found[number].output is None else say("lessons.maps.model.from_x_output")
    told = say(f"lessons.maps.model.{key}", layer=name, output=output, apart=f"{apart:.1e}", bound=f"{bound:.1e}")
    st.markdown(told)
    help = say("lessons.maps.model.to_workbench_help")
    if st.button(say("lessons.maps.model.to_workbench"), key="open_layer", icon=":material/grid_on:", help=help):
        open_layer(given, number, head)


def open_layer(given: GivenFile, number: int, head: int) -> None:
    """Opens a layer on the workbench, with its whole model if attention_core can compute every part of the model; shows
    an error if the workbench cannot show the layer.

    number: the index of the layer in the recording. head: the open head.
    """
    try:
        setup = wait_for(partial(begin_setup, given.recorded, number, head))
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    adopt_setup(setup if setup.run.layer is None else setup.with_fields(**list_changes(given)))
    st.switch_page(PAGES_BY_SLUG["workbench"].path)


def list_changes(given: GivenFile) -> dict[str, object]:
    """Returns the Setup fields that ablate the same heads on the workbench as on this page, and open the panel that
    shows this.
    """
    off = given.recorded.wanted.off
    return {"changes": tuple(f"{layer + 1}.{head}:off" for layer, head in off), "panel": "what_if"} if off else {}
