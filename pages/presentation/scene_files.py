"""A scene of a lecture for those who listen: a page for their phones, a handout for paper."""

from dataclasses import replace

import streamlit as st

from attention_core.inputs.tokenizer import shown
from attention_core.record.errors import AttentionError
from pages.export.document_texts import imprint_of
from pages.export.export_panel import show_handouts
from pages.lectures.script import Lecture
from pages.runs.cache import trace_of
from pages.session.labels import looked_at
from pages.site.words import say, sentence


def show_pages(lecture: Lecture) -> None:
    """One scene after the other, behind a button."""
    opened = st.popover(say("present.desk.pages"), icon=":material/smartphone:", key="scene_files", on_change="rerun")
    if not opened.open or not lecture.acts:
        return
    with opened:
        titles = [f"{at + 1} · {shown(act.title)}" for at, act in enumerate(lecture.acts)]
        at = st.selectbox(
            say("present.desk.which"), range(len(titles)), format_func=titles.__getitem__, key="c_scene_file"
        )
        act = lecture.acts[min(at, len(titles) - 1)]
        try:
            trace = trace_of(act.setup)
        except AttentionError as error:
            st.error(sentence(error), icon=":material/error:")
            return
        imprint = imprint_of(act.setup)
        imprint = replace(imprint, title=act.title or imprint.title)
        show_handouts(trace, act.setup, imprint, looked_at(trace, act.setup), act.note)
