"""The first line of every page: the page's own controls at the left, the shared ones at the right, always at the same
place."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.panels.language import language_switch, tell_language
from pages.panels.search_field import show_search

LINE_HEIGHT_PX = 40  # pixels


def show_toolbar() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Shows the search and the language switch at the right end. Returns two containers left of them: one for the
    page's own controls, one for shared ones, which is filled from the right."""
    line = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
    with st.container(**line, key="toolbar"):
        own = st.container(**line)
        with st.container(**line, width="content"):
            shared = st.container(**line, width="content")
            with st.container(width="content", gap=None):
                st.space(LINE_HEIGHT_PX)  # keeps the height of an empty line
                tell_language()
            show_search()
            language_switch()
    return own, shared
