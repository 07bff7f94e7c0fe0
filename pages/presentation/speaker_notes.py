"""Shows the presenter view: the note of the slide that the audience sees, the next step, and the time.

Two windows are two sessions, and sessions cannot exchange messages on the server: the presentation window sends its
texts to the presenter view inside the browser (components/lectern.js, prompter.js). In another browser or on another
machine, the presenter view is controlled by its own keys.
"""

from itertools import pairwise

import streamlit as st

from pages.components import prompter
from pages.lectures import lecture_session
from pages.site.words import say, use_language

NOTE_WORDS = ("heard", "alone", "coming", "again", "pause", "resume", "on_time")
CLOCK_WORDS = ("planned", "ahead", "behind")  # texts whose numbers the browser updates every second
FILLED_IN_BROWSER = {name: f"{{{name}}}" for name in ("begins", "ends", "time")}


def note_data() -> dict[str, object]:
    """Returns the texts of the presenter view, and the planned minutes at which the slide begins and ends.

    Returns {} if no lecture is shown.
    """
    session = lecture_session.get_lecture_session()
    if session.scene_step is None:
        return {}
    scene = lecture_session.current_scene()
    return {
        "place": describe_place(),
        "title": scene.title,
        "scene_step": say(f"present.scene_step.{session.scene_step}"),
        "question": scene.question,
        "note": scene.note,
        "next": describe_next_step(),
        "planned": lecture_session.current_lecture().planned_minutes(session.at),
        "departed": say("present.departed") if lecture_session.is_scene_changed() else "",
    }


def describe_place() -> str:
    """Returns the text "scene ... of ..." with the number and count of slides, and the planned minutes if there are
    any.
    """
    place = say("present.place", **lecture_session.scene_number_and_count())
    minutes = lecture_session.current_scene().minutes
    return f"{place} · {say('present.minutes', count=minutes)}" if minutes else place


def describe_next_step() -> str:
    """Returns the name of the step that follows the current step of a slide; at the end, the text that the lecture
    ends.
    """
    session = lecture_session.get_lecture_session()
    place = (session.at, session.scene_step)
    for earlier, later in pairwise(lecture_session.list_scene_steps()):
        if earlier == place:
            return describe_scene_step(*later)
    return say("present.end")


def describe_scene_step(index: int, step: str) -> str:
    """Returns the name of a step of a slide, with the slide's title if it is not the current slide.

    index: the index of the slide.
    """
    name = say(f"present.scene_step.{step}")
    if index == lecture_session.get_lecture_session().at:
        return name
    return say("present.coming", title=lecture_session.current_lecture().scenes[index].title, scene_step=name)


@st.fragment
def show_notes() -> None:
    """Shows the presenter view: notes, next step, times, and its keys and buttons."""
    with use_language():
        words = {name: say(f"present.notes.{name}") for name in NOTE_WORDS}
        words |= {name: say(f"present.notes.{name}", **FILLED_IN_BROWSER) for name in CLOCK_WORDS}
        for way in ("previous_scene", "previous", "next", "next_scene", "black"):
            words[way] = say(f"present.way.{way}")
        data = {
            "language": say("app.tag"),
            "words": words,
            "pair": lecture_session.get_lecture_session().pair,
            "at": note_data(),
        }
        prompter(data=data, key="prompter", given={"ways": ("script", *lecture_session.WAYS)}, on_moved=go_on)
        lecture_session.write_lecture_link()


def go_on(way: str) -> None:
    """Shows another step of the lecture after a key or button of the presenter view, if no presentation window handles
    it.

    way: the direction, such as "next" or "previous_scene"; "script" for the slide as the lecture has it.
    """
    if lecture_session.get_lecture_session().scene_step is None:
        return
    if way == "script":
        lecture_session.show_scripted_scene()
    else:
        lecture_session.move_in_lecture(way)
