"""Shows whether the open layer can be opened on the workbench with the model's own matrices, and a button for that."""

import streamlit as st

from attention_core.checkpoints.core_run import CoreRun
from attention_core.inputs.tokenizer import printable_token
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.record.errors import AttentionError
from pages.maps.given_file import GivenFile
from pages.maps.model_folder import name_faults
from pages.runs.cache import check_computable
from pages.runs.layer_store import LAYERS, read_layer
from pages.session.setup_state import adopt_setup
from pages.setup.choice_text import write_choice, write_mask, write_position
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
        open_layer(given, recording.from_x(number), f"{given.name}, {recording.layers[number]}", head)


def open_layer(given: GivenFile, run: CoreRun, name: str, head: int) -> None:
    """Opens a layer on the workbench, or shows the error if the workbench cannot show it.

    run: the layer's run from its input on. name: the names of the model and the layer. head: the open head.
    """
    shown = given.view.maps
    try:
        digest = LAYERS.keep(read_layer(name, run, shown.shown_queries, shown.shown_keys))
        setup = make_layer_setup(digest, run, head)
        check_kept(setup)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    adopt_setup(setup)
    st.switch_page(PAGES_BY_SLUG["workbench"].path)


def check_kept(setup: Setup) -> None:
    """Drops the layer of a Setup and raises AttentionError if the workbench cannot compute it."""
    try:
        check_computable(setup)
    except AttentionError:
        LAYERS.forget(setup.run.recorded)
        raise


def make_layer_setup(digest: str, run: CoreRun, head: int) -> Setup:
    """Returns the Setup of a layer that is stored under a digest, with all settings of its run."""
    config = run.config
    return make_setup(
        recorded=digest,
        cross="key" in run.trace,
        score=config.score,
        scale=config.scale,
        heads=config.heads,
        kv_heads=None if config.kv_heads == config.heads else config.kv_heads,
        masks=tuple(write_mask(*mask) for mask in config.masks),
        positions=tuple(write_position(*position) for position in config.positions),
        modifiers=tuple(write_choice(*modifier, MODIFIERS) for modifier in config.modifiers),
        normaliser=write_choice(*config.normaliser, NORMALISERS),
        head=head,
    )
