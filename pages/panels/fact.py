"""Shows the most important sentence of a page as a heading above the page's picture."""

import streamlit as st

from pages.session.collected import collected

HEADING_SIGN = "##### "  # Markdown prefix that makes the page's main sentence a heading


def show_fact(text: str) -> None:
    """Shows the most important sentence of the page as a heading. text: Markdown."""
    collected().facts.append(text)
    st.markdown(f"{HEADING_SIGN}{text}")
