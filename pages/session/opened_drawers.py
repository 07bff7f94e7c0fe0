"""Shows accordions (collapsible sections); one that the visitor opens is scrolled into view."""

from collections.abc import Callable

import streamlit as st

from pages import components


def show_drawer(
    title: str,
    icon: str | None,
    key: str,
    show: Callable[[], None],
    on_change: Callable[[], None] | str = "rerun",
) -> None:
    """Shows an accordion whose content is drawn only while the accordion is open.

    on_change: passed to Streamlit's expander: "rerun", or a function called when the accordion is opened or closed.
    """
    drawer = st.expander(title, icon=icon, key=key, on_change=on_change)
    with drawer:
        bring_into_view(key, drawer.open)
        if drawer.open:
            show()


def bring_into_view(key: str, is_open: bool) -> None:
    """Scrolls an accordion into view if the visitor has just opened it; must be called first inside the accordion.

    If an accordion is open when it is drawn for the first time, a link opened it, and the page does not scroll.
    """
    was_open = kept_drawers()["open"].get(key, True)
    kept_drawers()["open"][key] = is_open
    # this container remains while the accordion is open, because the content below would move up without it
    if is_open:
        scroll_here(key, is_new=not was_open)


def scroll_here(key: str, is_new: bool) -> None:
    """Scrolls the page to the place of this call if an accordion was just opened.

    key: the accordion's key. is_new: whether the accordion was just opened.
    """
    drawers = kept_drawers()
    if is_new:
        drawers["count"] += 1
        drawers["last"] = key
    opened = drawers["count"] if drawers["last"] == key else 0
    components.scroller(data={"opened": opened}, key=f"scroller_{key}")


def scroll_when_drawn(key: str) -> None:
    """Makes an accordion that a link opens scroll into view at its next drawing, as if the visitor had opened it."""
    kept_drawers()["open"][key] = False


def kept_drawers() -> dict:
    """Returns the session's record of its accordions: the open ones, how many were opened so far, and the last one."""
    return st.session_state.setdefault("drawers", {"open": {}, "count": 0, "last": None})
