"""A scene of a lecture for those who listen: a page for their phones, a handout for paper."""

from dataclasses import replace

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.export.document_texts import make_run_provenance
from pages.export.export_panel import show_handouts
from pages.lectures.script import Lecture
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.site.words import say, say_refusal


def show_scene_files(lecture: Lecture) -> None:
    """One scene after the other, behind a button."""
    opened = st.popover(say("present.desk.pages"), icon=":material/smartphone:", key="scene_files", on_change="rerun")
    if not opened.open or not lecture.scenes:
        return
    with opened:
        titles = [f"{at + 1} · {printable_token(act.title)}" for at, act in enumerate(lecture.scenes)]
        at = st.selectbox(
            say("present.desk.which"), range(len(titles)), format_func=titles.__getitem__, key="c_scene_file"
        )
        act = lecture.scenes[min(at, len(titles) - 1)]
        try:
            trace = trace_for(act.setup)
        except AttentionError as error:
            st.error(say_refusal(error), icon=":material/error:")
            return
        imprint = make_run_provenance(act.setup)
        imprint = replace(imprint, title=act.title or imprint.title)
        show_handouts(trace, act.setup, imprint, selection_of(trace, act.setup), act.note)
