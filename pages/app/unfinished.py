"""Says after a reload which training or file of the visitor it has ended, because only the session had it."""

from uuid import uuid4

import streamlit as st

from pages import components
from pages.site.words import say

HELD_IN_SESSION = {"training": "trainings", "maps": "maps_file"}  # name of what a reload ends -> its session key


def show_unfinished() -> None:
    """Tells the browser what a reload would end, and shows there what the last one has ended."""
    session = st.session_state.setdefault("session_name", uuid4().hex)
    held = [name for name, key in HELD_IN_SESSION.items() if st.session_state.get(key)]
    data = {
        "session": session,
        "held": held,
        "ended": {name: say(f"reload.{name}") for name in HELD_IN_SESSION},
        "close": say("reload.close"),
    }
    components.unfinished(data=data, key="unfinished")
