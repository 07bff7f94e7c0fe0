"""Stores which panel is open beside the picture of the workbench, and which of its rows are open."""

import streamlit as st

from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.controls import FILE, MATRICES

PANEL_KEY = "side_panel"  # session key of the panel that was opened last; None if it was closed
PANELS_OF_INPUTS = {"matrix": MATRICES, "qkv": MATRICES, "file": FILE}  # kind of input -> panel that is open at first


def find_panel(setup: Setup) -> str | None:
    """Returns the name of the panel beside the picture; None if there is none.

    Until the visitor opens or closes a panel, it is that of the input, so that a link with matrices shows them.
    """
    return st.session_state.get(PANEL_KEY, PANELS_OF_INPUTS.get(resolve_run(setup.run).mode))


def show_panel(name: str | None) -> None:
    """Opens a panel beside the picture, instead of the one that was open; None closes it."""
    st.session_state[PANEL_KEY] = name


def row_key(name: str) -> str:
    """Returns the session key that stores whether a row of a panel is open."""
    return f"row_{name}"
