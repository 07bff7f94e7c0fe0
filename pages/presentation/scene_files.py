"""Downloads of a scene for the audience: a page for phones, and handouts to print."""

from dataclasses import replace

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.export.document_texts import make_run_provenance
from pages.export.export_panel import show_handouts
from pages.lectures.script import Lecture, Scene
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.site.words import say, say_refusal


def show_scene_files(lecture: Lecture) -> None:
    """Shows a popover with a choice of a scene, and the downloads of that scene."""
    popover = st.popover(say("present.desk.pages"), icon=":material/smartphone:", key="scene_files", on_change="rerun")
    if not popover.open or not lecture.scenes:
        return
    with popover:
        titles = [f"{number} · {printable_token(scene.title)}" for number, scene in enumerate(lecture.scenes, start=1)]
        index = st.selectbox(
            say("present.desk.which"),
            range(len(titles)),
            format_func=titles.__getitem__,
            key="c_scene_file",
        )
        last = len(titles) - 1
        offer_scene_files(lecture.scenes[min(index, last)])


def offer_scene_files(scene: Scene) -> None:
    """Shows the downloads of a scene; instead the message that the scene shows no run, or why its run cannot be
    computed.
    """
    if scene.setup is None:
        st.caption(say("present.desk.no_run"))
        return
    try:
        trace = trace_for(scene.setup)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    provenance = make_run_provenance(scene.setup)
    if scene.title:
        provenance = replace(provenance, title=scene.title)
    show_handouts(trace, scene.setup, provenance, selection_of(trace, scene.setup), scene.note)
