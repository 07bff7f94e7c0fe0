"""The statement of a page, shown as a heading over its picture."""

import streamlit as st

from pages.session.collected import collected

HEADING_SIGN = "##### "  # Markdown of a heading


def show_fact(text: str) -> None:
    """Shows the page's statement as a heading. text: Markdown."""
    collected().facts.append(text)
    st.markdown(f"{HEADING_SIGN}{text}")
