"""The desk: a lecture at a glance. There it is started, saved and opened; and one's own is built."""

import streamlit as st

from attention_core.inputs.tokenizer import shown
from attention_core.record.errors import AttentionError
from pages.lectures import talk
from pages.lectures.script import SHIPPED, from_file, to_file
from pages.lectures.talk import OWN
from pages.panels.language import language_switch
from pages.presentation.builder import scene_editor, title_box
from pages.presentation.scene_files import show_pages
from pages.presentation.stage import show_lectern, show_trouble
from pages.session import setup_state
from pages.session.addresses import SHAREABLE, base
from pages.setup.setup_file import text_of
from pages.site.words import literal, say, sentence, speaking


def desk() -> None:
    """The title, the scenes in order; of one's own lecture the scene that is worked on beside them."""
    own = talk.talk()
    with speaking(), st.container(gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            show_lectern()
            lecture_picker()
            language_switch()
        show_trouble()
        show_refusal()
        if own.name == OWN:
            scenes, scene = st.columns([2, 3], gap="large")
            with scenes:
                title_box()
                scene_list()
                files()
            with scene:
                if talk.lecture().acts:
                    scene_editor(own.at)
                else:
                    st.markdown(say("present.desk.empty"))
        else:
            st.markdown(f"## {literal(talk.lecture().title)}\n{say('present.desk.how')}")
            scene_list()
            st.button(
                say("present.desk.copy"),
                key="copy",
                icon=":material/edit:",
                on_click=talk.take,
                args=(talk.lecture(), 0),
            )
            files()
        talk.show_link()


def show_refusal() -> None:
    """Why a lecture could not be opened, or changed."""
    if talk.talk().refused is not None:
        st.error(sentence(talk.talk().refused), icon=":material/error:")


def lecture_picker() -> None:
    """Which lecture: one that comes with the app, or one's own."""
    own = talk.talk()
    if own.own is None:
        return

    def chosen() -> None:
        own.name, own.at = st.session_state["c_lecture"], 0

    st.session_state["c_lecture"] = own.name
    st.segmented_control(
        say("present.desk.lecture"),
        [*SHIPPED, OWN],
        format_func=lambda name: say(f"present.desk.name.{name}"),
        key="c_lecture",
        on_change=chosen,
        required=True,
        label_visibility="collapsed",
    )


def scene_list() -> None:
    """The scenes; a click shows the lecture from there on, or of one's own chooses the one to work on."""
    own = talk.talk()
    with st.container(gap=None):
        for at, act in enumerate(talk.lecture().acts):
            chosen = own.name == OWN and at == own.at
            st.button(
                f"{'**' if chosen else ''}{at + 1} · {literal(shown(act.title)) or '–'}{'**' if chosen else ''}",
                key=f"scene_{at}",
                type="tertiary",
                on_click=choose if own.name == OWN else talk.start,
                args=(at,),
            )


def choose(at: int) -> None:
    """Works on a scene."""
    talk.talk().at = at


# ---- as a file, and as an address ------------------------------------------------------------------------------------
def files() -> None:
    """The lecture as a file and as an address; a file as the lecture."""
    lecture = talk.lecture()
    with st.container(horizontal=True):
        st.download_button(
            say("present.desk.save"),
            lambda: to_file(lecture),
            file_name="lecture.json",
            mime="application/json",
            icon=":material/save:",
            on_click="ignore",
        )
        st.button(say("present.desk.new"), key="new", icon=":material/add:", on_click=talk.take_new)
        show_pages(lecture)
    key = f"c_lecture_file_{setup_state.version()}"

    def chosen() -> None:
        if st.session_state[key] is None:
            return
        try:
            talk.take(from_file(text_of(st.session_state[key].getvalue())), 0)
        except AttentionError as error:
            talk.talk().refused = error
            return
        setup_state.new_version()

    st.file_uploader(say("present.desk.open"), type="json", key=key, on_change=chosen)
    address = f"{base()}?{talk.address()}"
    if talk.fits() and len(address) <= SHAREABLE:
        st.caption(say("present.desk.link"))
        st.code(address, language=None, wrap_lines=True, height=120 if len(address) > 120 else "content")
    else:
        st.caption(say("present.desk.too_long"))
