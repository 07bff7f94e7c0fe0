"""Stores which panel is open beside the picture of the workbench, and what is open in it; both survive a reload."""

import streamlit as st

from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.controls import EDITED_KEY, FILE, MATRICES, MORE, RESEARCH, ROWS

PANEL_KEY = "side_panel"  # session key of the panel that was opened last; None if it was closed
PANELS_OF_INPUTS = {"matrix": MATRICES, "qkv": MATRICES, "file": FILE}  # kind of input -> panel that is open at first
LINK_KEY = "side_panel"  # query parameter with the panel, and after a colon what is open in it: "more:positions,masks"
CLOSED = "closed"  # value of the query parameter after the visitor has closed the panel


def find_panel(setup: Setup) -> str | None:
    """Returns the name of the panel beside the picture; None if there is none.

    Until the visitor opens or closes a panel, the panel is that of the kind of input, so that a link with matrices
    shows these.
    """
    return st.session_state.get(PANEL_KEY, PANELS_OF_INPUTS.get(resolve_run(setup.run).mode))


def show_panel(name: str | None) -> None:
    """Opens a panel beside the picture, instead of the one that was open; None closes it."""
    st.session_state[PANEL_KEY] = name


def row_key(name: str) -> str:
    """Returns the session key that stores whether a row of a panel is open."""
    return f"row_{name}"


def kept_row_key(name: str) -> str:
    """Returns the session key that stores whether a row is open while the row is not drawn, because Streamlit deletes
    row_key then.
    """
    return f"{row_key(name)}.kept"


# ---- in the link -----------------------------------------------------------------------------------------------------
def write_panel_link() -> dict[str, str]:
    """Returns the query parameter with the panel that the visitor opened or closed; {} if the visitor did neither.

    The parameter also names what is open in the panel: its rows, or the matrix in its editor.
    """
    if PANEL_KEY not in st.session_state:
        return {}
    panel = st.session_state[PANEL_KEY]
    if panel is None:
        return {LINK_KEY: CLOSED}
    opened: list[str] = []
    if panel in (MORE, RESEARCH):
        opened = [name for name in ROWS if st.session_state.get(kept_row_key(name))]
    elif panel == MATRICES and EDITED_KEY in st.session_state:
        opened = [st.session_state[EDITED_KEY]]
    return {LINK_KEY: f"{panel}:{','.join(opened)}" if opened else panel}


def open_panel_of_link(text: str) -> bool:
    """Opens the panel that a query parameter names, and what was open in it; returns False for an unknown panel.

    Rows or matrices that the panel does not have are ignored.
    """
    panel, _, opened = text.partition(":")
    if panel not in (CLOSED, MATRICES, FILE, MORE, RESEARCH):
        return False
    show_panel(None if panel == CLOSED else panel)
    if panel == MATRICES and opened:
        st.session_state[EDITED_KEY] = opened  # the editor shows another matrix if the run lacks this one
    elif panel in (MORE, RESEARCH):
        for name in set(opened.split(",")).intersection(ROWS):
            st.session_state[kept_row_key(name)] = True
    return True
