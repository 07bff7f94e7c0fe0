"""Opens and scrolls to the control that a search or a link leads to."""

import streamlit as st

from pages import components
from pages.session import setup_state
from pages.session.labels import current_palette
from pages.session.linked_state import has_arrived
from pages.site.controls import CONTROLS

LINK_KEY = "control"  # in a link: the control that it leads to
SOUGHT_KEY = "sought"  # in the session: how often one was sought, and which last


def seek(name: str) -> None:
    """Marks a control as sought and opens its accordion; called before the workbench is drawn."""
    control = CONTROLS[name]
    if control.drawer is not None:
        st.session_state[control.drawer] = True
    turn, _ = st.session_state.get(SOUGHT_KEY, (0, None))
    st.session_state[SOUGHT_KEY] = (turn + 1, name)


def seek_linked() -> None:
    """Seeks the control named by a link if the visitor has just arrived by it."""
    name = st.query_params.get(LINK_KEY)
    if name is None or not has_arrived():
        return
    if name in CONTROLS:
        seek(name)
    else:
        state = setup_state.workbench()
        state.unread = [*state.unread, (LINK_KEY, name[:40])]


def bring_sought() -> None:
    """Brings the control that was sought last into view, once, and gives it the focus."""
    turn, name = st.session_state.get(SOUGHT_KEY, (0, None))
    data = {"turn": turn, "widget": name and CONTROLS[name].widget, "colour": current_palette().k}
    components.seeker(data=data, key="seeker")
