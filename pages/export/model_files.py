"""The files of a whole language model: maps of all heads, tables of the open panel, words before and after a change."""

from functools import partial

import streamlit as st
import torch

from attention_core import Trace
from attention_core.documents.number_files import csv_text
from attention_core.documents.provenance import Provenance
from attention_core.inputs.given_maps import AttentionMaps, pack_maps
from attention_core.learned.language.what_if import shares_before_and_after
from attention_core.record.trace import Step
from pages.export.downloads import button_row, can_export, file_name, offer_download
from pages.export.panel_numbers import list_panel_numbers
from pages.panels.model_rail import words_of_model
from pages.panels.model_what_if import take_changes
from pages.panels.what_if_data import WhatIf, title_of
from pages.runs.model_runs import model_sentences_of, model_vocabulary, model_weights
from pages.session.view import ScreenState
from pages.site.words import say


def show_model_files(screen: ScreenState, provenance: Provenance) -> None:
    """The files of the language model that reads the sentence; nothing where none does."""
    words = words_of_model(screen)
    if words is None:
        return
    kind = model_sentences_of(screen.setup)
    maps = AttentionMaps(model_weights(kind.model, kind.read(words)), words, words)
    st.caption(say("export.model"))
    with button_row():
        name = file_name(screen.setup, "npz", "heads")
        offer_download("heads", name, "application/octet-stream", partial(pack_maps, maps))
        for trace, step in list_panel_numbers(screen):
            show_table_file(screen, trace, step, provenance)
        if screen.setup.changes:
            show_changed_file(screen, provenance)


def show_table_file(screen: ScreenState, trace: Trace, step: str, provenance: Provenance) -> None:
    """A table of the open panel."""
    if can_export(trace, "CSV", step):
        make = partial(csv_text, trace, step, provenance)
        offer_download(step, file_name(screen.setup, "csv", step), "text/csv", make)


def show_changed_file(screen: ScreenState, provenance: Provenance) -> None:
    """The probability of each word before and after what is changed in the model."""
    trace = trace_outcomes(take_changes(screen))
    if can_export(trace, "CSV", "probability"):
        make = partial(csv_text, trace, "probability", provenance)
        offer_download("what_if", file_name(screen.setup, "csv", "what_if"), "text/csv", make)


def trace_outcomes(shown: WhatIf) -> Trace:
    """The probabilities as one step, (outcome, V, run)."""
    both = [shares_before_and_after(shown.name, shown.tokens, each, shown.changes) for each in shown.outcomes]
    shares = torch.stack([torch.stack(pair, -1) for pair in both])  # (outcome, V, run)
    labels = {
        "outcome": tuple(title_of(shown, each) for each in shown.outcomes),
        "V": model_vocabulary(shown.name),
        "run": (say("what_if.before"), say("what_if.after")),
    }
    return Trace({"probability": Step("probability", shares, ("outcome", "V", "run"))}, labels)
