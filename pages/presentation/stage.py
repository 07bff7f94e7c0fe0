"""What an audience sees of a scene, one step at a time, in large type and nothing else; and the keys that lead on."""

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from pages.components import lectern
from pages.lectures import talk
from pages.presentation.scene_steps import SCENE_STEP_FUNCTIONS
from pages.presentation.speaker_notes import note_data
from pages.session import setup_state
from pages.session.fragments import page_part, redraw
from pages.session.reveal import are_answers_revealed
from pages.session.view import ScreenState
from pages.setup.setup import LINK_KEYS
from pages.site.words import escape_markdown, say, say_refusal


def stage_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The lecture, the place in it, and what its scene has become."""
    session = talk.get_lecture_session()
    return (
        talk.current_lecture(),
        session.at,
        session.beat,
        session.drawer,
        are_answers_revealed(),
        screen.setup,
        *setup_state.get_trail(),
    )


@page_part(stage_dependencies)
def show_stage(screen: ScreenState) -> None:
    """One step of the scene, and the keys that lead on."""
    step = talk.get_lecture_session().beat
    with st.container(key="stage"):
        st.markdown(f"## {escape_markdown(talk.current_scene().title)}")
        with st.container(key=f"beat_{step}"):
            SCENE_STEP_FUNCTIONS[step](screen)
        show_lecture_trouble()
    show_lectern()
    talk.write_lecture_link()


def show_lectern() -> None:
    """The keys and buttons; what the presenter view in another window is told."""
    session = talk.get_lecture_session()
    is_presenting = session.beat is not None
    states = {
        "edit": session.drawer,
        "script": talk.is_scene_changed(),
        "reveal": are_answers_revealed(),
    }
    data = {
        "presenting": is_presenting,
        "language": say("app.tag"),
        "place": say("present.place", **talk.scene_number_and_count()) if is_presenting else "",
        "words": {way: say(f"present.way.{way}") for way in LECTERN_ACTIONS},
        "on": [way for way, is_on in states.items() if is_on],
        "address": talk.lecture_query(),
        "notes": note_data(),
    }
    lectern(data=data, key="lectern", on_moved_change=handle_lectern_key, width="content")


LECTERN_ACTIONS = ("start", "previous", "next", "reveal", "edit", "script", "black", "notes", "full", "leave")


def handle_lectern_key() -> None:
    """Does what a key or a button says: what a browser names is one of these, or nothing."""
    session = talk.get_lecture_session()
    is_presenting = session.beat is not None
    match st.session_state["lectern"].moved:
        case "start":
            talk.start_lecture()
            st.rerun()
        case "leave" if is_presenting:
            talk.leave_lecture()
            st.rerun()
        case "edit" if is_presenting:
            session.drawer = not session.drawer
            st.rerun()
        case "script" if is_presenting:
            talk.show_scripted_scene()
            redraw()
        case "reveal" if is_presenting:
            talk.toggle_answers()
            redraw()
        case "next" | "previous" | "first" | "last" as way if is_presenting:
            talk.move_in_lecture(way)
            redraw()


def show_lecture_trouble() -> None:
    """What of the link or the scene could not be read or computed."""
    session = talk.get_lecture_session()
    for key, text in session.unread:
        is_known = key in (*LINK_KEYS, *talk.LECTURE_LINK_KEYS)
        sentence = say(
            "present.unread" if is_known else "present.unknown",
            key=escape_markdown(key),
            text=escape_markdown(printable_token(text)),
        )
        st.error(sentence, icon=":material/link_off:")
    for key, error in session.unfit:
        sentence = say("present.refused", key=escape_markdown(key), reason=say_refusal(error))
        st.error(sentence, icon=":material/link_off:")
