"""The first line of every page: what is the page's own stands left; what several pages have stands right, each thing at
the same place on all of them."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.panels.language import language_switch, tell_language
from pages.panels.search_field import show_search

LINE_HEIGHT_PX = 40  # pixels


def show_toolbar() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Shows the search and the switch of the language at the right end. Gives the two places left of them: the page's
    own, and the one that is filled from the right, whose last thing always stands at the same place."""
    line = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
    with st.container(**line, key="toolbar"):
        own = st.container(**line)
        with st.container(**line, width="content"):
            shared = st.container(**line, width="content")
            with st.container(width="content", gap=None):
                st.space(LINE_HEIGHT_PX)  # also where nothing is as high
                tell_language()
            show_search()
            language_switch()
    return own, shared
