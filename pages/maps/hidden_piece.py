"""Hides a piece (subword token) of a text from an opened masked model, and shows what the model predicts there."""

from dataclasses import replace

import streamlit as st

from attention_core.checkpoints.next_pieces import list_candidates
from attention_core.checkpoints.output_changes import find_predicted_place
from pages.lessons.frame import show_refusal
from pages.maps.model_folder import FOLDER, open_model, read_model_text
from pages.maps.next_piece import CANDIDATES, make_candidate_table
from pages.panels.lesson_choices import get_choice
from pages.runs.checkpoint_store import RecordedText
from pages.site.words import escape_markdown, say


def show_hidden(text: RecordedText) -> None:
    """Shows the choice of the piece to hide, and the likeliest pieces with their probabilities at the first mask."""
    masked, shown = text.wanted.masked, text.inputs.shown
    wanted = text.wanted
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        place = st.selectbox(
            say("lessons.maps.control.masked"),
            range(len(shown)),
            index=min(1, len(shown) - 1) if masked is None else masked,
            format_func=lambda number: f"{number + 1}: {shown[number]}",
            key=f"maps_masked_{masked}",  # a box with the same key would keep the words before
            width=220,
        )
        if st.button(say("lessons.maps.hidden.hide"), key="maps_hide", icon=":material/visibility_off:"):
            wanted = replace(wanted, masked=place)
        if masked is not None:
            label = say("lessons.maps.hidden.show")
            if st.button(label, key="maps_unhide", icon=":material/visibility:"):
                wanted = replace(wanted, masked=None)
    if wanted is not text.wanted:
        with show_refusal():
            open_model(get_choice(FOLDER, "", read_model_text), wanted)
    at = find_predicted_place(text.opened, text.inputs)
    if at is None:
        st.caption(say("lessons.maps.hidden.nothing", mask=escape_markdown(text.opened.tokenizer.mask.token)))
        return
    found = list_candidates(text.opened, text.maps.recording.logits, CANDIDATES, place=at)
    st.markdown(make_candidate_table(say("lessons.maps.hidden.piece", number=at + 1), found))
    st.caption(say("lessons.maps.hidden.from_logits"))
