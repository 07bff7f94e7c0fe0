"""Shows whether the open layer can be opened on the workbench with the model's own matrices, and a button for that."""

import streamlit as st

from attention_core.checkpoints.core_run import CoreRun
from attention_core.checkpoints.recorded_model import RecordedModel
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.maps.given_file import GivenFile
from pages.maps.model_folder import name_faults
from pages.runs.cache import check_computable
from pages.runs.checkpoint_store import STORE
from pages.runs.layer_store import LAYERS, MODELS, KeptModel, LayerStore, read_layer, require_whole_size
from pages.runs.recorded_layer import layer_fields
from pages.session.setup_state import adopt_setup
from pages.setup.setup import Setup, make_setup
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import escape_markdown, say, say_refusal


def show_layer_door(given: GivenFile) -> None:
    """Shows what was found about the open layer, and a button that opens it on the workbench, or why it cannot be
    opened.
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
    """Opens a layer on the workbench, with its whole model if the core has every part of it; or shows the error if the
    workbench cannot show the layer.

    number: the index of the layer in the recording. head: the open head.
    """
    try:
        with st.spinner(say("lessons.maps.model.finds_whole")):
            setup = keep_model_or_layer(given, number, head)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    adopt_setup(setup)
    st.switch_page(PAGES_BY_SLUG["workbench"].path)


def keep_model_or_layer(given: GivenFile, number: int, head: int) -> Setup:
    """Stores the whole model of a layer, or else the layer alone; returns the Setup that shows the layer.

    Raises AttentionError if the workbench cannot show the layer.
    """
    recording = given.recorded.maps.recording
    try:
        whole = keep_model(given)
        settings = layer_fields(MODELS.find(whole).config(number + 1)) | list_changes(given)
        return check_kept(make_setup(recorded=whole, layer=number + 1, head=head, **settings), MODELS)
    except AttentionError as error:
        alone = error
    run, shown = recording.from_x(number), given.view.maps
    name = f"{given.name}, {recording.layers[number]}"
    digest = LAYERS.keep(read_layer(name, run, shown.shown_queries, shown.shown_keys, alone))
    return check_kept(make_layer_setup(digest, run, head), LAYERS)


def list_changes(given: GivenFile) -> dict[str, object]:
    """Returns the fields of a Setup that switch off the heads that are off on the page, in the panel that shows it."""
    off = given.recorded.wanted.off
    return {"changes": tuple(f"{layer + 1}.{head}:off" for layer, head in off), "panel": "what_if"} if off else {}


def keep_model(given: GivenFile) -> str:
    """Stores the whole model of a recorded text; returns its digest.

    Raises AttentionError that says what the core lacks, or that the model is too large.
    """
    text = given.recorded.whole or given.recorded
    require_whole_size(text.opened.parameters)
    whole = STORE.find_whole(text).result()
    tokenizer = text.opened.tokenizer
    model = RecordedModel(whole, given.name, text.inputs.shown, str if tokenizer is None else tokenizer.show)
    return MODELS.keep(KeptModel(model, text.maps.recording.layers))


def check_kept(setup: Setup, store: LayerStore) -> Setup:
    """Returns a Setup; if the workbench cannot compute it, drops its layer or model and raises AttentionError."""
    try:
        check_computable(setup)
    except AttentionError:
        store.forget(setup.run.recorded)
        raise
    return setup


def make_layer_setup(digest: str, run: CoreRun, head: int) -> Setup:
    """Returns the Setup of a layer that is stored under a digest, with all settings of its run."""
    return make_setup(recorded=digest, cross="key" in run.trace, head=head, **layer_fields(run.config))
