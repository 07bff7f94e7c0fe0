"""Controls that add and edit scenes of text and pictures, and add the code of a run."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.lectures import lecture_session
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.picture import MAX_PICTURE_BYTES, MAX_PICTURE_WORDS_CHARS, OwnPicture, check_picture
from pages.lectures.kinds.text import MAX_OWN_TEXT_CHARS, OwnText
from pages.lectures.scene_kinds import SceneContent
from pages.panels.file_box import MAX_UPLOAD_MB, file_box
from pages.session import setup_state
from pages.setup.setup import Setup
from pages.site.words import say

TEXT_HEIGHT_PX = 200  # pixels of the text box


def show_own_scene_makers() -> None:
    """Shows a button that adds a text scene, and an upload box that adds a picture scene."""
    st.button(say("present.desk.add_text"), key="add_text", icon=":material/notes:", on_click=add_text_scene)
    key = f"c_picture_{setup_state.editors_version()}"

    def take_picture() -> None:
        upload = st.session_state[key]
        if upload is not None:
            add_picture_scene(upload.getvalue(), upload.name)

    label = say("present.desk.add_picture", limit=MAX_PICTURE_BYTES // 1000)
    file_box(label, ["png", "jpg", "jpeg"], key, on_change=take_picture, max_upload_size=MAX_UPLOAD_MB)


def add_text_scene() -> None:
    """Adds a text scene with a placeholder text."""
    words = OwnText(say("present.desk.first_words"))
    lecture_session.add_scene(lecture_session.make_scene(words, say("present.scene_step.text")))


def add_picture_scene(data: bytes, name: str) -> None:
    """Adds a picture scene titled with the file's name; stores the error if the picture is refused."""
    try:
        check_picture(data)
    except AttentionError as error:
        lecture_session.get_lecture_session().refuse(lecture_session.LECTURE_CONTROL, error)
        return
    title, _, _ = name.rpartition(".")
    lecture_session.add_scene(lecture_session.make_scene(OwnPicture(data), title))
    setup_state.renew_editors()


def show_own_editor(index: int, shown: SceneContent) -> None:
    """Shows the editor of a text, or of a picture's alt text and source; for a Setup, the button that adds its code."""
    match shown:
        case OwnText():
            options = {"max_chars": MAX_OWN_TEXT_CHARS, "height": TEXT_HEIGHT_PX}
            edit_shown_part(index, shown, "text", st.text_area, **options)
        case OwnPicture():
            st.image(shown.data, width=240, alt=shown.alt)
            for name in ("alt", "source"):
                edit_shown_part(index, shown, name, st.text_input, max_chars=MAX_PICTURE_WORDS_CHARS)
        case Setup():
            st.button(say("present.desk.add_code"), key="add_code", on_click=add_code_scene, args=(shown,))


def edit_shown_part(index: int, shown: SceneContent, name: str, widget: Callable, **options) -> None:
    """Shows a widget that edits one field of a scene's content."""
    key = f"c_shown_{name}"

    def take_part() -> None:
        changed = replace(shown, **{name: st.session_state[key]})
        lecture = lecture_session.current_lecture()
        lecture_session.take_lecture(lecture.changed(index, shown=changed))

    st.session_state[key] = getattr(shown, name)
    widget(say(f"present.desk.shown_{name}"), key=key, on_change=take_part, **options)


def add_code_scene(setup: Setup) -> None:
    """Adds a scene with the code of a Setup's step."""
    title = say("present.desk.code_title", step=setup.view.step or "weights")
    lecture_session.add_scene(lecture_session.make_scene(RunCode(setup), title))
