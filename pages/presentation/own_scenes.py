"""Scenes of text, pictures and code on the stage."""

import streamlit as st

from attention_core import Trace
from pages.lectures import lecture_session
from pages.panels.step import show_step_code
from pages.session.view import ScreenState
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_text_step(screen: ScreenState) -> None:
    """Shows the text of the scene as Markdown; HTML stays plain text, and Markdown images are not loaded."""
    shown = lecture_session.current_scene().shown
    st.markdown(shown.text.replace("![", r"!\["))


def show_own_picture_step(screen: ScreenState) -> None:
    """Shows the picture of the scene, and its source."""
    shown = lecture_session.current_scene().shown
    st.image(shown.data, alt=shown.alt or lecture_session.current_scene().title)
    if shown.source:
        st.caption(say("present.source", source=escape_markdown(shown.source)))


def show_code_step(screen: ScreenState) -> None:
    """Shows the code of the step that the scene opens, in PyTorch and in NumPy."""
    show_step_code(screen.trace, step_of_code(screen.trace, screen.setup))


def step_of_code(trace: Trace, setup: Setup) -> str:
    """The step whose code is shown: the opened step if it is computed, otherwise the weights."""
    return setup.view.step if setup.view.step in trace.computed() else "weights"
