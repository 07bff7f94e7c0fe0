"""Downloads of a language model: maps of all heads, tables of the open panel, words before and after a change."""

from collections.abc import Iterator
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.documents.number_files import csv_text
from attention_core.documents.provenance import Provenance
from attention_core.inputs.given_maps import AttentionMaps, pack_maps
from pages.export.downloads import button_row, can_export, file_name, offer_download
from pages.panels.model import Table
from pages.panels.model.what_if import list_changed_words
from pages.panels.model_panels import PANELS, open_panel
from pages.panels.model_rail import words_of_model
from pages.runs.model_runs import model_sentences_of, model_weights
from pages.session.view import ScreenState
from pages.site.words import say


def show_model_files(screen: ScreenState, provenance: Provenance) -> None:
    """Shows the downloads of the language model that reads the sentence; returns early if no model is used."""
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
    """The tables of the open panel, then those of the words before and after changes in the model."""
    yield from PANELS[open_panel(screen)].tables(screen)
    yield from list_changed_words(screen)


def show_table_file(screen: ScreenState, trace: Trace, step: str, provenance: Provenance) -> None:
    """Shows the download of one table as CSV, if the table is small enough."""
    if can_export(trace, "CSV", step):
        make = partial(csv_text, trace, step, provenance)
        offer_download(step, file_name(screen.setup, "csv", step), "text/csv", make)
