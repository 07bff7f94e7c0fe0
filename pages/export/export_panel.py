"""Shows the export panel: downloads of a run as pictures, numbers, documents and scripts.

A file is generated when its button is clicked.
"""

from collections.abc import Iterator
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.documents.number_files import csv_text
from attention_core.documents.phone_page import MovingPart
from attention_core.documents.provenance import Provenance
from attention_core.inputs.given_maps import AttentionMaps, pack_maps
from pages.export.document_texts import make_document_texts, make_run_provenance
from pages.export.downloads import button_row, can_export, file_name, offer_download
from pages.export.flow_files import make_moving_flow, show_flow_files
from pages.export.heads_file import show_heads_file
from pages.export.page_links import link_to_exercise
from pages.export.run_files import (
    TRANSPARENT_KEY,
    ExportedRun,
    show_all_files,
    show_documents,
    show_handouts,
    show_step_files,
)
from pages.panels.flow_data import shows_heads
from pages.panels.head_maps import head_name
from pages.panels.model import Table
from pages.panels.model.what_if import list_changed_words
from pages.panels.model_panels import PANELS, open_panel
from pages.panels.model_rail import words_of_model
from pages.runs.cache import inputs_of
from pages.runs.model_runs import model_sentences_of, model_weights
from pages.session.labels import chosen_cell, selection_of
from pages.session.view import ScreenState, make_screen_state
from pages.setup.setup import Setup
from pages.site.words import say


def show_export(trace: Trace, setup: Setup) -> None:
    """Shows a popover with all downloads of a run."""
    popover = st.popover(
        say("export.title"),
        icon=":material/download:",
        type="tertiary",
        key="export",
        on_change="rerun",
    )
    if not popover.open:
        return
    provenance = make_run_provenance(setup)
    run = make_exported_run(trace, setup, provenance)
    with popover, st.container(gap="xsmall"):
        show_picture_files(make_screen_state(setup, None), provenance)
        show_step_files(run)
        show_setup_handouts(run, setup)
        show_documents(run)
        show_all_files(run)
        show_model_files(make_screen_state(setup, None), provenance)
        link_to_exercise(setup, "export")


def show_picture_files(screen: ScreenState, provenance: Provenance) -> None:
    """Shows the downloads of the flow picture and of all heads' maps; in the view Heads also of their numbers."""
    show_flow_files(screen, provenance, is_transparent=bool(st.session_state.get(TRANSPARENT_KEY)))
    if shows_heads(screen.setup.view.stop):
        show_heads_file(screen, provenance)


def make_exported_run(trace: Trace, setup: Setup, provenance: Provenance) -> ExportedRun:
    """Returns the run of a Setup, with all that its files need."""
    selection = selection_of(trace, setup)
    return ExportedRun(
        trace=trace,
        selection=selection,
        provenance=provenance,
        texts=make_document_texts(trace, setup, selection),
        heading=head_name(setup, inputs_of(setup), selection.head),
        name=setup.run.example,
        chosen=chosen_cell(trace, setup),
        step=setup.view.step,
    )


def show_setup_handouts(run: ExportedRun, setup: Setup, note: str = "") -> None:
    """Shows the handouts of a Setup's run; its page for phones has the moving picture.

    note: the lecturer's note, which is printed on the handouts.
    """

    def make_moving() -> tuple[MovingPart, ...]:
        return (make_moving_flow(make_screen_state(setup, None)),)

    show_handouts(run, note, make_moving)


# ---- a language model ------------------------------------------------------------------------------------------------
def show_model_files(screen: ScreenState, provenance: Provenance) -> None:
    """Shows the downloads of the language model that reads the sentence; shows nothing if no model is used."""
    words = words_of_model(screen)
    if words is None:
        return
    kind = model_sentences_of(screen.setup.run)
    maps = AttentionMaps(model_weights(kind.model, kind.read(words)), words, words)
    st.caption(say("export.model"))
    with button_row():
        name = file_name(screen.setup, "npz", "heads")
        offer_download("heads", name, "application/octet-stream", partial(pack_maps, maps))
        for trace, step in list_tables(screen):
            show_table_file(screen, trace, step, provenance)


def list_tables(screen: ScreenState) -> Iterator[Table]:
    """Yields the tables of the open panel, then the next words before and after interventions in the model."""
    yield from PANELS[open_panel(screen)].tables(screen)
    yield from list_changed_words(screen)


def show_table_file(screen: ScreenState, trace: Trace, step: str, provenance: Provenance) -> None:
    """Shows the download of one table as CSV, if the table is small enough."""
    if can_export(trace, "CSV", step):
        make = partial(csv_text, trace, step, provenance)
        offer_download(step, file_name(screen.setup, "csv", step), "text/csv", make)
