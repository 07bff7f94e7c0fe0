"""After a reload, tells the visitor which training or opened file was lost because only the former session had it."""

from uuid import uuid4

import streamlit as st

from pages import components
from pages.site.words import say

HELD_IN_SESSION = {"training": "trainings", "maps": "maps_file"}  # what a reload loses -> its session key


def show_unfinished() -> None:
    """Sends the browser the names of what a reload would lose; after a reload, the browser shows what was lost."""
    session = st.session_state.setdefault("session_name", uuid4().hex)
    held = [name for name, key in HELD_IN_SESSION.items() if st.session_state.get(key)]
    data = {
        "session": session,
        "held": held,
        "ended": {name: say(f"reload.{name}") for name in HELD_IN_SESSION},
        "close": say("reload.close"),
    }
    components.unfinished(data=data, key="unfinished")
