"""The presenter view: the note of the scene that the audience sees, what comes next, and the time.

Two windows are two sessions, and no session may reach another: the window with the pictures tells its texts to the one
with the notes inside the browser (components/lectern.js, prompter.js). Where that is another browser or machine, the
notes are gone through by their own keys.
"""

from itertools import pairwise

import streamlit as st

from pages.components import prompter
from pages.lectures import talk
from pages.site.words import say, speaking


def note_data() -> dict[str, str]:
    """What the presenter view shows, as texts; nothing where no lecture is shown."""
    own = talk.talk()
    if own.beat is None:
        return {}
    scene = talk.act()
    return {
        "place": say("present.place", **talk.numbered()),
        "title": scene.title,
        "beat": say(f"present.beat.{own.beat}"),
        "question": scene.question,
        "note": scene.note,
        "next": coming(),
        "departed": say("present.departed") if talk.departed() else "",
    }


def coming() -> str:
    """What the next key shows."""
    own = talk.talk()
    for here, (at, beat) in pairwise(talk.places()):
        if here == (own.at, own.beat):
            named = say(f"present.beat.{beat}")
            return named if at == own.at else say("present.coming", title=talk.lecture().acts[at].title, beat=named)
    return say("present.end")


@st.fragment
def notes() -> None:
    """The view."""
    with speaking():
        words = {name: say(f"present.notes.{name}") for name in ("heard", "alone", "coming", "again")}
        words |= {way: say(f"present.way.{way}") for way in ("previous", "next", "black")}
        data = {"language": say("app.tag"), "words": words, "pair": talk.talk().pair, "at": note_data()}
        prompter(data=data, key="prompter", on_moved_change=moved)
        talk.show_link()


def moved() -> None:
    """A key or a button, where no other window was heard."""
    match st.session_state["prompter"].moved:
        case "next" | "previous" | "first" | "last" as way if talk.talk().beat is not None:
            talk.go(way)
