"""Opens and scrolls to the control that a search or a link leads to."""

import streamlit as st

from pages import components
from pages.session import setup_state
from pages.session.labels import current_palette
from pages.session.linked_state import has_arrived
from pages.site.controls import CONTROLS

LINK_KEY = "control"  # link key of the name of a control to open
SOUGHT_KEY = "sought"  # in the session: the number of searches for controls, and the control found last


def seek(name: str) -> None:
    """Stores a control as the one to scroll to, and opens its accordion; called before the workbench is drawn."""
    control = CONTROLS[name]
    if control.drawer is not None:
        st.session_state[control.drawer] = True
    turn, _ = st.session_state.get(SOUGHT_KEY, (0, None))
    st.session_state[SOUGHT_KEY] = (turn + 1, name)


def seek_linked() -> None:
    """Calls `seek` for the control named in a link, if the visitor has just arrived by this link."""
    name = st.query_params.get(LINK_KEY)
    if name is None or not has_arrived():
        return
    if name in CONTROLS:
        seek(name)
    else:
        state = setup_state.workbench()
        state.unread = [*state.unread, (LINK_KEY, name[:40])]


def bring_sought() -> None:
    """Scrolls the control that was sought last into view, once, and gives it the focus."""
    turn, name = st.session_state.get(SOUGHT_KEY, (0, None))
    data = {"turn": turn, "widget": name and CONTROLS[name].widget, "colour": current_palette().k}
    components.seeker(data=data, key="seeker")
