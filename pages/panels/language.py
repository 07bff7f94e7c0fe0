"""The language switch, and the language that is sent to the browser."""

import streamlit as st

from pages import components
from pages.site.words import LANGUAGES, current_language, say


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
    """Sends the language of the page to the browser. It takes no room."""
    components.spoken(data={"language": say("app.tag")}, key="spoken", width="content")
