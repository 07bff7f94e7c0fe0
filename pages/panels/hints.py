"""Shows a hint on how to use a part of the page in the words of the visitor's device: a keyboard and a mouse, or a
finger."""

from collections.abc import Callable

import streamlit as st

from pages.site.words import say


def show_hint(key: str, draw: Callable[[str], object] = st.markdown, place: str = "") -> None:
    """Shows the text of a key, and on a touch screen that of the key with the suffix "_touch" instead.

    The browser knows which of the two it needs, and page.css hides the other. draw: Streamlit's function for the text.
    place: a name that is unique on the page; "" for the key.
    """
    place = (place or key).replace(".", "_")
    with st.container(key=f"how_keys_{place}"):
        draw(say(key))
    with st.container(key=f"how_touch_{place}"):
        draw(say(f"{key}_touch"))
