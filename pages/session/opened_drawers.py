"""Accordions that are scrolled into view when they are opened."""

from collections.abc import Callable

import streamlit as st

from pages import components


def show_drawer(
    title: str,
    icon: str,
    key: str,
    show: Callable[[], None],
    on_change: Callable[[], None] | str = "rerun",
) -> None:
    """Shows an accordion whose content is drawn only while it is open. on_change: what is redrawn when the accordion is
    opened or closed, if more than its own part.
    """
    drawer = st.expander(title, icon=icon, key=key, on_change=on_change)
    with drawer:
        bring_into_view(key, drawer.open)
        if drawer.open:
            show()


def bring_into_view(key: str, is_open: bool) -> None:
    """Scrolls an accordion into view if it was just opened; called first inside the accordion.

    An accordion that is open when it is first drawn was opened by a link: the page then does not scroll.
    """
    was_open = kept_drawers()["open"].get(key, True)
    kept_drawers()["open"][key] = is_open
    if is_open:  # an accordion opened earlier keeps its scroller: without it the content below would move up
        scroll_here(key, is_new=not was_open)


def scroll_here(key: str, is_new: bool) -> None:
    """Scrolls the position of this call into view if is_new: the accordion `key` was just opened."""
    drawers = kept_drawers()
    if is_new:
        drawers["count"] += 1
        drawers["last"] = key
    opened = drawers["count"] if drawers["last"] == key else 0
    components.scroller(data={"opened": opened}, key=f"scroller_{key}")


def kept_drawers() -> dict:
    """The session's record of open accordions, the count of openings, and the last one opened."""
    return st.session_state.setdefault("drawers", {"open": {}, "count": 0, "last": None})
