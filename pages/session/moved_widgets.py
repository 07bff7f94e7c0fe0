"""Sets the value of widgets whose value can also be changed elsewhere: in a picture, by a link, or by undo."""

import streamlit as st


def set_moved_widget(name: str, shown: object) -> str:
    """Sets the value that a widget shows, and returns the key to draw the widget with.

    name: the name of the widget, the same for all of its keys. shown: the value. If something other than the widget
    changed the value, the widget gets a new key. This is needed because a browser sends the values of all widgets with
    each message: until it has received the new value, it sends the old one, under the old key. is_outdated is True for
    the old key, so that the old value can be ignored.
    """
    turns = st.session_state.setdefault("widget_turns", {})
    turn, shown_before = turns.get(name, (0, shown))
    holds = st.session_state.get(f"{name}_{turn}", shown)
    if shown not in (shown_before, holds):
        turn += 1
    turns[name] = (turn, shown)
    key = f"{name}_{turn}"
    if key not in st.session_state or st.session_state[key] != shown:
        st.session_state[key] = shown
    return key


def moved_widget_key(name: str) -> str:
    """Returns the current key of a widget, which set_moved_widget returned last."""
    turn, _ = st.session_state.get("widget_turns", {}).get(name, (0, None))
    return f"{name}_{turn}"


def is_outdated(key: str) -> bool:
    """Returns whether a widget has a newer key than this one; a value that the browser sends under this key is then
    outdated.
    """
    name, _, turn = key.rpartition("_")
    current_turn, _ = st.session_state["widget_turns"][name]
    return current_turn != int(turn)
