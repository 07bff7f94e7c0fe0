"""The button that makes what is seen on a page a scene of one's own lecture."""

from collections.abc import Callable

import streamlit as st

from pages.lectures import lecture_session
from pages.lectures.script import Scene
from pages.session.fragments import redraw
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import say, say_refusal


def show_add_button(make_scene: Callable[[], Scene], key: str = "add_scene") -> None:
    """Shows the button; once what is seen was added, the way to the desk in its place, or why it could not be."""

    def add_scene() -> None:
        lecture_session.add_scene(make_scene())
        redraw()

    session = lecture_session.get_lecture_session()
    if is_added(make_scene):
        label = say("present.desk.added", count=len(session.own.scenes))
        if st.button(label, key=f"desk_{key}", icon=":material/slideshow:", type="tertiary"):
            st.switch_page(PAGES_BY_SLUG["present"].path)
        return
    label = say("present.desk.add")
    st.button(label, key=key, icon=":material/playlist_add:", type="tertiary", on_click=add_scene)
    if session.refusal is not None:
        st.error(say_refusal(session.refusal), icon=":material/error:")


def is_added(make_scene: Callable[[], Scene]) -> bool:
    """Whether what is seen is the scene that was added last, and still in the lecture.

    Only where there is such a scene another one is made: its picture may take a while."""
    session = lecture_session.get_lecture_session()
    if session.own is None or session.added not in session.own.scenes:
        return False
    return make_scene() == session.added
