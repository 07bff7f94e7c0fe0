"""The desk: a lecture at a glance. There it is started, saved and opened; and one's own is built."""

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.lectures import talk
from pages.lectures.script import SHIPPED_LECTURES, lecture_from_file, lecture_to_file
from pages.lectures.talk import OWN_LECTURE
from pages.panels.language import language_switch
from pages.presentation.builder import scene_editor, title_box
from pages.presentation.scene_files import show_scene_files
from pages.presentation.stage import show_lectern, show_lecture_trouble
from pages.session import setup_state
from pages.session.addresses import MAX_ADDRESS_CHARS, page_address
from pages.setup.setup_file import decode_file_text
from pages.site.words import escape_markdown, say, say_refusal, use_language


def show_desk() -> None:
    """The title, the scenes in order; of one's own lecture the scene that is worked on beside them."""
    own = talk.get_lecture_session()
    with use_language(), st.container(gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            show_lectern()
            lecture_picker()
            language_switch()
        show_lecture_trouble()
        show_lecture_refusal()
        if own.name == OWN_LECTURE:
            scenes, scene = st.columns([2, 3], gap="large")
            with scenes:
                title_box()
                show_scene_list()
                show_lecture_files()
            with scene:
                if talk.current_lecture().scenes:
                    scene_editor(own.at)
                else:
                    st.markdown(say("present.desk.empty"))
        else:
            st.markdown(f"## {escape_markdown(talk.current_lecture().title)}\n{say('present.desk.how')}")
            show_scene_list()
            st.button(
                say("present.desk.copy"),
                key="copy",
                icon=":material/edit:",
                on_click=talk.take_lecture,
                args=(talk.current_lecture(), 0),
            )
            show_lecture_files()
        talk.write_lecture_link()


def show_lecture_refusal() -> None:
    """Why a lecture could not be opened, or changed."""
    refusal = talk.get_lecture_session().refusal
    if refusal is not None:
        st.error(say_refusal(refusal), icon=":material/error:")


def lecture_picker() -> None:
    """Which lecture: one that comes with the app, or one's own."""
    own = talk.get_lecture_session()
    if own.own is None:
        return

    def chosen() -> None:
        own.name, own.at = st.session_state["c_lecture"], 0

    st.session_state["c_lecture"] = own.name
    st.segmented_control(
        say("present.desk.lecture"),
        [*SHIPPED_LECTURES, OWN_LECTURE],
        format_func=lambda name: say(f"present.desk.name.{name}"),
        key="c_lecture",
        on_change=chosen,
        required=True,
        label_visibility="collapsed",
    )


def show_scene_list() -> None:
    """The scenes; a click shows the lecture from there on, or of one's own chooses the one to work on."""
    own = talk.get_lecture_session()
    with st.container(gap=None):
        for at, act in enumerate(talk.current_lecture().scenes):
            bold = "**" if own.name == OWN_LECTURE and at == own.at else ""
            st.button(
                f"{bold}{at + 1} · {escape_markdown(printable_token(act.title)) or '–'}{bold}",
                key=f"scene_{at}",
                type="tertiary",
                on_click=open_scene_in_editor if own.name == OWN_LECTURE else talk.start_lecture,
                args=(at,),
            )


def open_scene_in_editor(at: int) -> None:
    """Works on a scene."""
    talk.get_lecture_session().at = at


# ---- as a file, and as an address ------------------------------------------------------------------------------------
def show_lecture_files() -> None:
    """The lecture as a file and as an address; a file as the lecture."""
    lecture = talk.current_lecture()
    with st.container(horizontal=True):
        st.download_button(
            say("present.desk.save"),
            lambda: lecture_to_file(lecture),
            file_name="lecture.json",
            mime="application/json",
            icon=":material/save:",
            on_click="ignore",
        )
        st.button(say("present.desk.new"), key="new", icon=":material/add:", on_click=talk.take_new_lecture)
        show_scene_files(lecture)
    key = f"c_lecture_file_{setup_state.editors_version()}"

    def chosen() -> None:
        if st.session_state[key] is None:
            return
        try:
            talk.take_lecture(lecture_from_file(decode_file_text(st.session_state[key].getvalue())), 0)
        except AttentionError as error:
            talk.get_lecture_session().refuse(talk.LECTURE_CONTROL, error)
            return
        setup_state.renew_editors()

    st.file_uploader(say("present.desk.open"), type="json", key=key, on_change=chosen)
    address = f"{page_address()}?{talk.lecture_query()}"
    if talk.fits_in_link() and len(address) <= MAX_ADDRESS_CHARS:
        st.caption(say("present.desk.link"))
        st.code(address, language=None, wrap_lines=True, height=120 if len(address) > 120 else "content")
    else:
        st.caption(say("present.desk.too_long"))
