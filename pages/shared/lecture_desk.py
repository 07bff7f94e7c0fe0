"""The desk: a lecture at a glance. There it is started, saved and opened; and one's own is built."""

import streamlit as st

from attention_core.errors import AttentionError
from attention_core.tokens import shown
from pages.shared import lectures, state
from pages.shared.addresses import SHAREABLE, base
from pages.shared.controls import language_switch
from pages.shared.lecture import SHIPPED, from_file, to_file
from pages.shared.lecture_builder import scene_editor, title_box
from pages.shared.lectures import OWN
from pages.shared.scene_files import show_pages
from pages.shared.setup_file import text_of
from pages.shared.stage import show_lectern, show_trouble
from pages.shared.words import literal, say, sentence, speaking


def desk() -> None:
    """The title, the scenes in order; of one's own lecture the scene that is worked on beside them."""
    own = lectures.talk()
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
                if lectures.lecture().acts:
                    scene_editor(own.at)
                else:
                    st.markdown(say("present.desk.empty"))
        else:
            st.markdown(f"## {literal(lectures.lecture().title)}\n{say('present.desk.how')}")
            scene_list()
            st.button(
                say("present.desk.copy"),
                key="copy",
                icon=":material/edit:",
                on_click=lectures.take,
                args=(lectures.lecture(), 0),
            )
            files()
        lectures.show_link()


def show_refusal() -> None:
    """Why a lecture could not be opened, or changed."""
    if lectures.talk().refused is not None:
        st.error(sentence(lectures.talk().refused), icon=":material/error:")


def lecture_picker() -> None:
    """Which lecture: one that comes with the app, or one's own."""
    own = lectures.talk()
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
    own = lectures.talk()
    with st.container(gap=None):
        for at, act in enumerate(lectures.lecture().acts):
            chosen = own.name == OWN and at == own.at
            st.button(
                f"{'**' if chosen else ''}{at + 1} · {literal(shown(act.title)) or '–'}{'**' if chosen else ''}",
                key=f"scene_{at}",
                type="tertiary",
                on_click=choose if own.name == OWN else lectures.start,
                args=(at,),
            )


def choose(at: int) -> None:
    """Works on a scene."""
    lectures.talk().at = at


# ---- as a file, and as an address ------------------------------------------------------------------------------------
def files() -> None:
    """The lecture as a file and as an address; a file as the lecture."""
    lecture = lectures.lecture()
    with st.container(horizontal=True):
        st.download_button(
            say("present.desk.save"),
            lambda: to_file(lecture),
            file_name="lecture.json",
            mime="application/json",
            icon=":material/save:",
            on_click="ignore",
        )
        st.button(say("present.desk.new"), key="new", icon=":material/add:", on_click=lectures.take_new)
        show_pages(lecture)
    key = f"c_lecture_file_{state.version()}"

    def chosen() -> None:
        if st.session_state[key] is None:
            return
        try:
            lectures.take(from_file(text_of(st.session_state[key].getvalue())), 0)
        except AttentionError as error:
            lectures.talk().refused = error
            return
        state.new_version()

    st.file_uploader(say("present.desk.open"), type="json", key=key, on_change=chosen)
    address = f"{base()}?{lectures.address()}"
    if lectures.fits() and len(address) <= SHAREABLE:
        st.caption(say("present.desk.link"))
        st.code(address, language=None, wrap_lines=True, height=120 if len(address) > 120 else "content")
    else:
        st.caption(say("present.desk.too_long"))
