"""The open head as a picture scene of a lecture, because the file is stored only in this session."""

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
    """Shows the button that adds the open head as a scene; or the message that the fonts lack letters of its words."""
    if not has_all_letters(given):
        st.caption(say("lessons.maps.no_scene"))
        return
    show_add_button(partial(make_head_scene, given))
    st.caption(say("lessons.maps.scene"))


def make_head_scene(given: GivenFile) -> Scene:
    """A picture scene with the map of the open head, and with the map's provenance under it."""
    title = name_opened_head(given)
    picture = OwnPicture(png_bytes(draw_opened_head(given, is_titled=False)), alt=title)
    return lecture_session.make_scene(picture, title)
