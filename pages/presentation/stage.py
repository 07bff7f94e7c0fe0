"""Shows the presentation: one step of a slide in large type for the audience; handles the presenter's keys."""

from functools import partial

import streamlit as st

from pages.components import lectern
from pages.lectures import lecture_session
from pages.lectures.script import QUESTION_STEP
from pages.panels.flow_numbers import is_too_large
from pages.panels.model_guess import show_sign, tell_sign
from pages.panels.model_rail import words_of_model
from pages.panels.refusals import show_link_trouble
from pages.presentation.room import show_room, tell_room
from pages.presentation.scene_steps import SCENE_STEP_FUNCTIONS, show_question
from pages.presentation.speaker_notes import note_data
from pages.session import setup_state
from pages.session.answers import are_answers_revealed
from pages.session.fragments import page_part, redraw
from pages.session.view import ScreenState
from pages.setup.codec import LINK_KEYS, link_trouble
from pages.site.words import escape_markdown, say

MODEL_STEPS = ("journey", "map", "model", "cell")  # steps of a slide whose numbers may come from a language model


def stage_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the presentation: the lecture, slide and step, and the shown Setup."""
    session = lecture_session.get_lecture_session()
    return (
        lecture_session.current_lecture(),
        session.at,
        session.scene_step,
        session.moves,
        session.begun,
        session.drawer,
        session.room,
        session.shows_room,
        session.is_room_over,
        are_answers_revealed(),
        screen.setup,
        *setup_state.get_trail(),
    )


@page_part(stage_dependencies)
def show_stage(screen: ScreenState) -> None:
    """Shows the current step of the slide, and the presenter's keys and buttons (the lectern)."""
    step = lecture_session.get_lecture_session().scene_step
    with st.container(key="stage"):
        st.markdown(f"#### {escape_markdown(lecture_session.current_scene().title)}")
        if lecture_session.get_lecture_session().shows_room:
            show_room()
        elif lecture_session.get_lecture_session().missing is not None:
            show_scene_without_numbers(step)
        else:
            show_scene_numbers(screen, step)
    show_lectern()
    lecture_session.write_lecture_link()


def show_scene_numbers(screen: ScreenState, step: str) -> None:
    """Shows a step of the current scene, and which parts of the scene or of the link could not be used."""
    if screen.setup.run.recorded is not None:
        st.caption(say("present.live"))
    is_flow = step == "journey" or (step == "map" and not is_too_large(screen.trace))
    # the same key for all flow steps, so that an animation is not interrupted
    with st.container(key="beat_flow" if is_flow else f"beat_{step}"):
        SCENE_STEP_FUNCTIONS[step](screen)
    if step in MODEL_STEPS:
        show_sign(tell_sign(screen.setup, words_of_model(screen) or ()))
    show_lecture_trouble()


def show_scene_without_numbers(step: str) -> None:
    """Shows the question of the current scene, and why the scene has no numbers."""
    if step == QUESTION_STEP:
        show_question()
    show_lecture_trouble()


def show_lectern() -> None:
    """Shows the presenter's keys and buttons (the lectern), and sends the texts of the presenter view to another
    window.
    """
    session = lecture_session.get_lecture_session()
    is_presenting = session.scene_step is not None
    states = {
        "edit": session.drawer,
        "script": lecture_session.is_scene_changed(),
        "reveal": are_answers_revealed(),
        "room": session.shows_room,
    }
    data = {
        "presenting": is_presenting,
        "language": say("app.tag"),
        "place": say("present.place", **lecture_session.scene_number_and_count()) if is_presenting else "",
        "words": {way: say(f"present.way.{way}") for way in LECTERN_ACTIONS},
        "on": [way for way, is_on in states.items() if is_on],
        "address": lecture_session.lecture_query(),
        "notes": note_data(),
    }
    ways = ("start", "leave", "edit", "script", "reveal", "room", *lecture_session.WAYS)
    lectern(data=data, key="lectern", given={"ways": ways}, on_moved=handle_lectern_key, width="content")
    tell_room()


LECTERN_ACTIONS = (
    *("start", "previous_scene", "previous", "next", "next_scene"),
    *("reveal", "edit", "script", "black", "room", "notes", "full", "leave"),
)


def handle_lectern_key(way: str) -> None:
    """Handles a key or button of the presenter: to start, leave, edit, restore, reveal, show the room or move on.

    While the room is shown, a key that moves on leads back to the scene.

    way: one of the names that show_lectern declares.
    """
    session = lecture_session.get_lecture_session()
    is_presenting = session.scene_step is not None
    match way:
        case "start":
            lecture_session.start_lecture()
            st.rerun()
        case "leave" if is_presenting:
            lecture_session.leave_lecture()
            st.rerun()
        case "edit" if is_presenting:
            session.drawer = not session.drawer
            st.rerun()
        case "script" if is_presenting:
            lecture_session.show_scripted_scene()
            redraw()
        case "reveal" if is_presenting:
            lecture_session.toggle_answers()
            redraw()
        case "room" if is_presenting:
            session.shows_room = not session.shows_room
            redraw()
        case _ if is_presenting and session.shows_room:
            session.shows_room = False
            redraw()
        case _ if is_presenting:
            lecture_session.move_in_lecture(way)
            redraw()


def show_lecture_trouble() -> None:
    """Shows which parts of the lecture's link or of the slide could not be read or computed."""
    known = (*LINK_KEYS, *lecture_session.LECTURE_LINK_KEYS)
    show_link_trouble(lecture_session.get_lecture_session(), "present", partial(link_trouble, known=known))
