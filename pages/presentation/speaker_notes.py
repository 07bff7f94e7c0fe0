"""The presenter view: the note of the scene that the audience sees, what comes next, and the time.

Two windows are two sessions, and no session may reach another: the window with the pictures tells its texts to the one
with the notes inside the browser (components/lectern.js, prompter.js). Where that is another browser or machine, the
notes are gone through by their own keys.
"""

from itertools import pairwise

import streamlit as st

from pages.components import prompter
from pages.lectures import lecture_session
from pages.site.words import say, use_language

NOTE_WORDS = ("heard", "alone", "coming", "again", "pause", "resume", "on_time")
CLOCK_WORDS = ("planned", "ahead", "behind")  # with numbers that change while nobody presses a key
FILLED_IN_BROWSER = {name: f"{{{name}}}" for name in ("begins", "ends", "time")}


def note_data() -> dict[str, object]:
    """What the presenter view shows, as texts, and the minutes between which the scene is planned; nothing where no
    lecture is shown."""
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
    """Which scene of how many, and the minutes it is meant to take where the lecture says them."""
    place = say("present.place", **lecture_session.scene_number_and_count())
    minutes = lecture_session.current_scene().minutes
    return f"{place} · {say('present.minutes', count=minutes)}" if minutes else place


def describe_next_step() -> str:
    """What the next key shows."""
    session = lecture_session.get_lecture_session()
    place = (session.at, session.scene_step)
    for earlier, later in pairwise(lecture_session.list_scene_steps()):
        if earlier == place:
            return describe_scene_step(*later)
    return say("present.end")


def describe_scene_step(index: int, step: str) -> str:
    """A step by its name; of another scene than the one that is shown, with the title of that."""
    name = say(f"present.scene_step.{step}")
    if index == lecture_session.get_lecture_session().at:
        return name
    return say("present.coming", title=lecture_session.current_lecture().scenes[index].title, scene_step=name)


@st.fragment
def show_notes() -> None:
    """The view."""
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
        prompter(data=data, key="prompter", given={"ways": lecture_session.WAYS}, on_moved=go_on)
        lecture_session.write_lecture_link()


def go_on(way: str) -> None:
    """Goes to another step, after a key or a button where no other window was heard."""
    if lecture_session.get_lecture_session().scene_step is not None:
        lecture_session.move_in_lecture(way)
