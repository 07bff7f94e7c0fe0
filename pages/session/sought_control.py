"""Opens the panel or control of the workbench that a search or a link names, and scrolls the page to the control."""

import streamlit as st

from pages import components
from pages.session import setup_state
from pages.session.labels import current_palette
from pages.session.linked_state import has_arrived
from pages.session.side_panel import LINK_KEY as PANEL_LINK_KEY
from pages.session.side_panel import open_panel_of_link, row_key, show_panel
from pages.site.controls import CONTROLS

LINK_KEY = "control"  # query parameter with the control to open
SOUGHT_KEY = "sought"  # session key of (number of searches that found a control, the control that was found last)


def seek(name: str) -> None:
    """Stores the control to scroll to, and opens its panel and row; must be called before the workbench is drawn."""
    control = CONTROLS[name]
    if control.panel is not None:
        show_panel(control.panel)
    if control.row is not None:
        st.session_state[row_key(control.row)] = True
    turn, _ = st.session_state.get(SOUGHT_KEY, (0, None))
    st.session_state[SOUGHT_KEY] = (turn + 1, name)


def seek_linked() -> None:
    """If the visitor has just arrived by a link that names a control, stores the control; an unknown name is recorded
    as an unreadable part of the link.
    """
    name = st.query_params.get(LINK_KEY)
    if name is None or not has_arrived():
        return
    if name in CONTROLS:
        seek(name)
    else:
        state = setup_state.workbench()
        state.unread = [*state.unread, (LINK_KEY, name[:40])]


def open_linked_panel() -> None:
    """If the visitor has just arrived by a link that names a panel, opens it; an unknown panel is recorded as an
    unreadable part.
    """
    panel = st.query_params.get(PANEL_LINK_KEY)
    if panel is None or not has_arrived():
        return
    if not open_panel_of_link(panel):
        state = setup_state.workbench()
        state.unread = [*state.unread, (PANEL_LINK_KEY, panel[:40])]


def bring_sought() -> None:
    """Scrolls to the control that a search or a link named last, and gives it the focus, once per search."""
    turn, name = st.session_state.get(SOUGHT_KEY, (0, None))
    data = {"turn": turn, "widget": name and CONTROLS[name].widget, "colour": current_palette().k}
    components.seeker(data=data, key="seeker")
