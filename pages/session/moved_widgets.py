"""Widgets whose value is also changed from elsewhere: by a picture, a link, undo."""

import streamlit as st


def set_moved_widget(name: str, shown: object) -> str:
    """Sets a widget to a value, and gives its key: another key after something else than the widget changed the value.

    A browser says what each widget holds with whatever it sends. Until it has heard of the new value that is the old
    one, which nobody chose; is_outdated tells its callback so.
    """
    turns = st.session_state.setdefault("widget_turns", {})
    turn, shown_before = turns.get(name, (0, shown))
    holds = st.session_state.get(f"{name}_{turn}", shown)
    if shown not in (shown_before, holds):
        turn += 1
    turns[name] = (turn, shown)
    st.session_state[f"{name}_{turn}"] = shown
    return f"{name}_{turn}"


def moved_widget_key(name: str) -> str:
    """The key that set_moved_widget returned last."""
    turn, _ = st.session_state.get("widget_turns", {}).get(name, (0, None))
    return f"{name}_{turn}"


def is_outdated(key: str) -> bool:
    """Whether a widget's key has been replaced by a newer one."""
    name, _, turn = key.rpartition("_")
    current_turn, _ = st.session_state["widget_turns"][name]
    return current_turn != int(turn)
