"""Shows the button that adds what a page shows to the visitor's lecture, as a scene (slide)."""

from collections.abc import Callable

import streamlit as st

from pages.lectures import lecture_session
from pages.lectures.script import Scene
from pages.session.fragments import redraw
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import say, say_refusal


def show_add_button(make_scene: Callable[[], Scene], key: str = "add_scene") -> None:
    """Shows a button that adds a scene to the lecture; if the scene was already added, a button that opens the
    lecture's editor.

    Also shows the error if the last scene could not be added to the lecture.
    """

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
    """Returns whether the scene (slide of a lecture) that was added last is still in the lecture and still shown by the
    page.

    make_scene, which may take a while to draw a picture, is called only if a scene was added before.
    """
    session = lecture_session.get_lecture_session()
    if session.own is None or session.added not in session.own.scenes:
        return False
    return make_scene() == session.added
