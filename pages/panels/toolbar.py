"""The first line of every page: the page's own controls at the left, the common ones at the right, always at the same
position.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages import components
from pages.panels.search_field import show_search
from pages.site.words import LANGUAGES, current_language, say

LINE_HEIGHT_PX = 40  # pixels


def show_toolbar() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Shows the search and the language switch at the right end. Returns two containers left of these: one for the
    page's own controls, and one for common ones, which is filled from the right.
    """
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


# ---- the language switch, and the language that is sent to the browser -----------------------------------------------
def language_switch() -> None:
    """Shows the choice between EN and 中文."""

    def choose_language() -> None:
        st.session_state["lang"] = st.session_state["c_lang"] or current_language()
        st.rerun()

    st.session_state["c_lang"] = current_language()
    st.segmented_control(
        say("control.language"),
        list(LANGUAGES),
        format_func=LANGUAGES.get,
        key="c_lang",
        on_change=choose_language,
        required=True,
        label_visibility="collapsed",
    )


def tell_language() -> None:
    """Sends the language of the page to the browser. The component takes no room."""
    components.spoken(data={"language": say("app.tag")}, key="spoken", width="content")
