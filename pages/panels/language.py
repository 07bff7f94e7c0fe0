"""The switch of the language."""

import streamlit as st

from pages.site.words import LANGUAGES, current_language, say


def language_switch() -> None:
    """EN / 中文."""

    def chosen() -> None:
        st.session_state["lang"] = st.session_state["c_lang"] or current_language()
        st.rerun()

    st.session_state["c_lang"] = current_language()
    st.segmented_control(
        say("control.language"),
        list(LANGUAGES),
        format_func=LANGUAGES.get,
        key="c_lang",
        on_change=chosen,
        required=True,
        label_visibility="collapsed",
    )
