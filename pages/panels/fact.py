"""What a page states, as a heading over its picture."""

import streamlit as st

from pages.session.collected import collected

HEADING_SIGN = "##### "  # of Markdown


def show_fact(text: str) -> None:
    """Shows what a page states. text: Markdown."""
    collected().facts.append(text)
    st.markdown(f"{HEADING_SIGN}{text}")
