"""Stores the visitor's own lecture in the browser (localStorage): it survives a reload, and all tabs show the same."""

import json
from hashlib import sha256

import streamlit as st

from attention_core.record.errors import AttentionError
from pages import components
from pages.components import MAX_KEPT_CHARS
from pages.lectures import lecture_session
from pages.lectures.lecture_session import OWN_LECTURE, get_lecture_session
from pages.lectures.script import LECTURE_FORMAT, SHIPPED_LECTURES, Lecture, lecture_from_file, lecture_to_file
from pages.session.fragments import note_drawn, redraw, register_part
from pages.setup.setup_file import read_strict_json

Lectures = tuple[Lecture | None, Lecture | None]  # (the visitor's own lecture, the lecture that it replaced)
KEPT_NAMES = ("own", "put_away")


@st.fragment(key="keep_lecture")
def keep_lecture() -> None:
    """Sends the visitor's lectures to the browser if they have changed; receives the lectures that the browser has
    stored.

    These may have been changed in another tab.
    """
    session, copy = get_lecture_session(), get_lecture_session().copy
    text = None
    if not (copy.is_given and is_same(copy.lectures, own_lectures())):
        copy.lectures = own_lectures()
        text = write_lectures(copy.lectures)
        was_refused, copy.is_refused = copy.is_refused, not text and copy.lectures[0] is not None
        digest = text and sha256(text.encode()).hexdigest()
        if copy.is_given and digest == copy.digests[-1]:
            text = None  # nothing is sent, because the browser stores this text already
        else:
            copy.note(digest)
        copy.is_given = True
        if copy.is_refused and not was_refused:
            redraw_lecture()  # redraws the overview of the lecture, which shows the error
    note_drawn(keep_lecture)
    components.kept_lecture(
        data={
            "digest": copy.digests[-1],
            "text": text,
            "begins": not copy.is_heard,
            "awaits": bool(session.awaited),
        },
        key="kept_lecture",
        on_read=take_kept,
        on_removed=take_removed,
        on_refused=take_refused,
    )


def own_lectures() -> Lectures:
    """Returns the visitor's own lecture and the one that it replaced."""
    session = get_lecture_session()
    return session.own, session.put_away


def is_same(one: Lectures, other: Lectures) -> bool:
    """Returns whether two pairs contain the same lecture objects; their contents are not compared, because pictures are
    large.
    """
    return all(first is second for first, second in zip(one, other, strict=True))


# ---- as a text -------------------------------------------------------------------------------------------------------
def write_lectures(lectures: Lectures) -> str:
    """Returns the text of the visitor's lectures for the browser's storage; "" if there are none or they are too large.

    The replaced lecture is left out if both together are too large.
    """
    if lectures == (None, None):
        return ""
    texts = [lecture and lecture_to_file(lecture) for lecture in lectures]
    for kept in (texts, [texts[0], None]):
        text = json.dumps(dict(zip(KEPT_NAMES, kept, strict=True)), ensure_ascii=False)
        if len(text) <= MAX_KEPT_CHARS:
            return text
    return ""


def read_lectures(text: str) -> Lectures:
    """Parses the text that write_lectures returned. Raises AttentionError: the errors of lecture_from_file."""
    match read_strict_json(text):
        case {"own": str() | None as own, "put_away": str() | None as put_away}:
            return tuple(each and lecture_from_file(each) for each in (own, put_away))
    raise AttentionError("lecture_format", expected=LECTURE_FORMAT)


# ---- what the browser tells ------------------------------------------------------------------------------------------
def take_kept(sent: dict | None) -> None:
    """Handles a browser's message with the lectures in its storage, if any.

    A browser sends this message on arrival, if its lectures differ from those of the session, and after another tab has
    changed them. sent: None if the browser stores nothing.
    """
    session, copy = get_lecture_session(), get_lecture_session().copy
    copy.is_heard = True
    if sent is None:
        copy.is_given = False
        if session.awaited:
            session.unread = [*session.unread, ("lecture", OWN_LECTURE)]
            session.awaited = {}
            redraw_lecture()
        return
    if not sent["changed"] and sent["digest"] in copy.digests:  # the text is outdated
        copy.is_given = False
        return
    try:
        lectures = read_lectures(sent["text"])
    except AttentionError:
        copy.is_unread, copy.is_given, session.awaited = True, session.own is None, {}
        redraw_lecture()
        return
    copy.note(sent["digest"])
    copy.is_unread = False
    take_lectures(lectures, sent["changed"])
    redraw_lecture()


def take_lectures(lectures: Lectures, is_newer: bool) -> None:
    """Makes the lectures in the browser's storage those of the session.

    If the session has a lecture already, for example from a link, that lecture stays, and the browser's is kept as the
    replaced one, unless another tab has changed it. is_newer: whether another tab has changed it.
    """
    session = get_lecture_session()
    own, put_away = lectures
    if session.own is not None and not is_newer:
        lecture_session.keep_put_away(put_away)
        lecture_session.keep_put_away(own)
        return
    session.own, session.put_away = own, put_away
    if session.awaited:
        lecture_session.read_lecture_link(session.awaited)
    elif own is not None and not session.is_chosen:
        session.name = OWN_LECTURE
    settle_place()


def settle_place() -> None:
    """Selects a scene and a step that still exist, after another tab has changed the lecture."""
    session = get_lecture_session()
    if session.name != OWN_LECTURE:
        return
    if session.own is None:
        session.name = SHIPPED_LECTURES[0]
    scenes = lecture_session.current_lecture().scenes
    session.at = max(min(session.at, len(scenes) - 1), 0)
    if session.scene_step is None:
        return
    if session.own is None or not scenes:
        lecture_session.leave_lecture()
    elif (session.at, session.scene_step) not in lecture_session.list_scene_steps():
        lecture_session.start_lecture(session.at)


def take_removed(_: bool) -> None:
    """Handles the message that another tab has deleted the lecture."""
    throw_away_lecture()
    get_lecture_session().copy.note("")
    redraw_lecture()


def take_refused(_: bool) -> None:
    """Handles the message that the browser cannot store the lecture, because its storage is full or forbidden."""
    get_lecture_session().copy.is_refused = True
    redraw_lecture()


def throw_away_lecture() -> None:
    """Deletes the visitor's own lecture and the one that it replaced, from the session and from the browser."""
    session = get_lecture_session()
    session.own = session.put_away = session.added = session.removal = None
    settle_place()


def redraw_lecture() -> None:
    """Redraws the parts of the page that show the lecture; must be the last call of a callback, which it ends."""
    if st.session_state["page"] == "present":
        st.rerun()
    redraw(keep_lecture.__name__)


register_part(keep_lecture, lambda _: tuple(map(id, own_lectures())))
