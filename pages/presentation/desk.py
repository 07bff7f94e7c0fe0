"""Shows the overview of a lecture (the desk) on the page "present": a lecture is started, saved and edited there."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.record.errors import AttentionError
from pages.lectures import lecture_session
from pages.lectures.kept_lecture import throw_away_lecture
from pages.lectures.lecture_session import OWN_LECTURE
from pages.lectures.script import SHIPPED_LECTURES, lecture_from_file, lecture_to_file
from pages.panels.file_box import MAX_UPLOAD_MB, file_box
from pages.panels.hints import show_hint
from pages.panels.toolbar import show_toolbar
from pages.presentation.builder import (
    scene_editor,
    show_own_scene_makers,
    show_put_away_lecture,
    show_removed_scene,
    title_box,
)
from pages.presentation.lecture_files import show_scene_files, show_whole_lecture
from pages.presentation.scene_cards import show_scene_cards
from pages.presentation.stage import show_lectern, show_lecture_trouble
from pages.session import setup_state
from pages.session.addresses import MAX_ADDRESS_CHARS, page_address
from pages.session.entered_values import when_entered
from pages.setup.setup_file import decode_file_text
from pages.site.words import escape_markdown, say, say_refusal, use_language

ONE_LINE_CHARS = 120  # most characters of an address that is shown without scrolling
LONG_ADDRESS_HEIGHT = 120  # px: height of the scrolling area of a longer address


def show_desk() -> None:
    """Shows the overview of a lecture (the desk): toolbar, errors, the lecture, and for the visitor's own lecture its
    editor.
    """
    with use_language(), st.container(gap="small"):
        own, _ = show_toolbar()
        with own:
            show_lectern()
            lecture_picker()
        show_lecture_trouble()
        show_lecture_refusal()
        show_copy_trouble()
        if lecture_session.get_lecture_session().name == OWN_LECTURE:
            show_own_lecture()
        else:
            show_shipped_lecture()
        lecture_session.write_lecture_link()


def show_own_lecture() -> None:
    """Shows the visitor's own lecture: its title, its scenes (slides), its files, and the editor of the selected
    scene.
    """
    show_put_away_lecture()
    list_column, editor_column = st.columns([2, 3], gap="large")
    with list_column:
        title_box()
        show_scene_list()
        show_own_scene_makers()
        show_lecture_files()
    with editor_column:
        if lecture_session.current_lecture().scenes:
            scene_editor(lecture_session.get_lecture_session().at)
        else:
            st.markdown(say("present.desk.empty"))
        show_removed_scene()


def show_shipped_lecture() -> None:
    """Shows a lecture that the app includes: its title, scenes (slides) and files, and a button that copies the
    lecture.

    The copy becomes the visitor's own lecture.
    """
    lecture = lecture_session.current_lecture()
    st.markdown(f"## {escape_markdown(lecture.title)}")
    show_hint("present.desk.how")
    show_scene_list()
    st.button(
        say("present.desk.copy"),
        key="copy",
        icon=":material/edit:",
        on_click=lecture_session.replace_lecture,
        args=(lecture,),
    )
    show_lecture_files()


def show_lecture_refusal() -> None:
    """Shows an error message if the last change of a lecture was refused, or if a lecture could not be opened."""
    refusal = lecture_session.get_lecture_session().refusal
    if refusal is not None:
        st.error(say_refusal(refusal), icon=":material/error:")


def show_copy_trouble() -> None:
    """Shows whether the lecture in the browser's storage is unreadable, and whether the browser cannot store the own
    lecture.
    """
    session = lecture_session.get_lecture_session()
    if session.copy.is_unread:
        st.warning(say("present.desk.kept_unread"), icon=":material/warning:")
    if session.copy.is_refused and session.own is not None:
        st.warning(say("present.desk.unkept"), icon=":material/warning:")


def show_throwing_away() -> None:
    """Shows the button that deletes the visitor's own lecture; it asks for confirmation."""
    with st.popover(say("present.desk.throw_away"), icon=":material/delete:"):
        st.markdown(say("present.desk.throw_away_how"))
        st.button(say("present.desk.throw_away_sure"), key="throw_away", on_click=throw_away_lecture)


def lecture_picker() -> None:
    """Shows the choice of a lecture: the lectures that the app includes, and the visitor's own if there is one."""
    session = lecture_session.get_lecture_session()
    names = [*SHIPPED_LECTURES]
    if session.own is not None:
        names.append(OWN_LECTURE)

    def take_choice(name: str) -> None:
        session.name, session.is_chosen = name, True
        session.at = 0

    st.session_state["c_lecture"] = session.name
    st.segmented_control(
        say("present.desk.lecture"),
        names,
        format_func=lambda name: say(f"present.desk.name.{name}"),
        key="c_lecture",
        on_change=when_entered("c_lecture", take_choice),
        required=True,
        wrap=True,  # wrap: the lectures take several rows on a phone
        label_visibility="collapsed",
    )


def show_scene_list() -> None:
    """Shows the scenes of the lecture as tiles in a grid ("cards"), and the total of their minutes."""
    if lecture_session.current_lecture().scenes:
        show_scene_cards()
    total = lecture_session.current_lecture().total_minutes()
    if total:
        st.caption(say("present.desk.total", count=total))


# ---- as a file, and as an address ------------------------------------------------------------------------------------
def show_lecture_files() -> None:
    """Shows the lecture as downloads and as an address, a button for a new lecture, and the upload of a lecture
    file.
    """
    lecture = lecture_session.current_lecture()
    with st.container(horizontal=True):
        st.download_button(
            say("present.desk.save"),
            lambda: lecture_to_file(lecture),
            file_name="lecture.json",
            mime="application/json",
            icon=":material/save:",
            on_click="ignore",
        )
        st.button(say("present.desk.new"), key="new", icon=":material/add:", on_click=lecture_session.take_new_lecture)
        show_scene_files(lecture)
        show_whole_lecture(lecture)
        if lecture_session.get_lecture_session().name == OWN_LECTURE:
            show_throwing_away()
    lecture_file_box()
    show_lecture_address()


def lecture_file_box() -> None:
    """Shows the upload of a lecture file; an uploaded lecture replaces the visitor's own lecture."""
    key = f"c_lecture_file_{setup_state.editors_version()}"

    def take_file(upload: UploadedFile | None) -> None:
        if upload is None:
            return
        try:
            lecture = lecture_from_file(decode_file_text(upload.getvalue()))
        except AttentionError as error:
            lecture_session.get_lecture_session().refuse(lecture_session.LECTURE_CONTROL, error)
            return
        lecture_session.replace_lecture(lecture)
        setup_state.renew_editors()

    on_change = when_entered(key, take_file)
    file_box(say("present.desk.open"), ["json"], key, on_change=on_change, max_upload_size=MAX_UPLOAD_MB)


def show_lecture_address() -> None:
    """Shows the lecture's address, or the message that the lecture is too long for an address."""
    address = f"{page_address()}?{lecture_session.lecture_query()}"
    if not lecture_session.fits_in_link() or len(address) > MAX_ADDRESS_CHARS:
        st.caption(say("present.desk.too_long"))
        return
    st.caption(say("present.desk.link"))
    is_long = len(address) > ONE_LINE_CHARS
    st.code(address, language=None, wrap_lines=True, height=LONG_ADDRESS_HEIGHT if is_long else "content")
