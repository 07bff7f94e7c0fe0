"""The head that is open as a scene of a lecture: its picture, because the file stays in this session alone."""

from functools import partial

import streamlit as st

from attention_core.documents.picture_files import png_bytes
from pages.lectures import lecture_session
from pages.lectures.add_button import show_add_button
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.script import Scene
from pages.maps.given_file import GivenFile
from pages.maps.head_view import draw_opened_head, has_all_letters, name_opened_head
from pages.site.words import say


def show_head_scene(given: GivenFile) -> None:
    """The button that makes the open head a scene; why there is none where its words cannot be drawn."""
    if not has_all_letters(given):
        st.caption(say("lessons.maps.no_scene"))
        return
    show_add_button(partial(make_head_scene, given))
    st.caption(say("lessons.maps.scene"))


def make_head_scene(given: GivenFile) -> Scene:
    """The map of the open head as a picture of one's own; where it is from is drawn under it."""
    title = name_opened_head(given)
    picture = OwnPicture(png_bytes(draw_opened_head(given, is_titled=False)), alt=title)
    return lecture_session.make_scene(picture, title)
