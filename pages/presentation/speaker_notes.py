"""The presenter view: the note of the scene that the audience sees, what comes next, and the time.

Two windows are two sessions, and no session may reach another: the window with the pictures tells its texts to the one
with the notes inside the browser (components/lectern.js, prompter.js). Where that is another browser or machine, the
notes are gone through by their own keys.
"""

from itertools import pairwise

import streamlit as st

from pages.components import prompter
from pages.lectures import talk
from pages.site.words import say, use_language


def note_data() -> dict[str, str]:
    """What the presenter view shows, as texts; nothing where no lecture is shown."""
    own = talk.get_lecture_session()
    if own.beat is None:
        return {}
    scene = talk.current_scene()
    return {
        "place": say("present.place", **talk.scene_number_and_count()),
        "title": scene.title,
        "beat": say(f"present.beat.{own.beat}"),
        "question": scene.question,
        "note": scene.note,
        "next": describe_next_step(),
        "departed": say("present.departed") if talk.is_scene_changed() else "",
    }


def describe_next_step() -> str:
    """What the next key shows."""
    own = talk.get_lecture_session()
    for here, (at, beat) in pairwise(talk.list_scene_steps()):
        if here == (own.at, own.beat):
            named = say(f"present.beat.{beat}")
            return (
                named
                if at == own.at
                else say("present.coming", title=talk.current_lecture().scenes[at].title, beat=named)
            )
    return say("present.end")


@st.fragment
def show_notes() -> None:
    """The view."""
    with use_language():
        words = {name: say(f"present.notes.{name}") for name in ("heard", "alone", "coming", "again")}
        words |= {way: say(f"present.way.{way}") for way in ("previous", "next", "black")}
        data = {"language": say("app.tag"), "words": words, "pair": talk.get_lecture_session().pair, "at": note_data()}
        prompter(data=data, key="prompter", on_moved_change=handle_notes_key)
        talk.write_lecture_link()


def handle_notes_key() -> None:
    """A key or a button, where no other window was heard."""
    match st.session_state["prompter"].moved:
        case "next" | "previous" | "first" | "last" as way if talk.get_lecture_session().beat is not None:
            talk.move_in_lecture(way)
