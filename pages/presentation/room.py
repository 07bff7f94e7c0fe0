"""Opens the room of a lecture, in which the browsers of the audience follow it, and shows its code."""

import gzip
from collections import Counter
from dataclasses import asdict, replace
from hashlib import sha256
from urllib.parse import urlencode

import streamlit as st

from attention_core.documents.lecture_page import POLL_PART, FollowTexts, PartDrawing, lecture_page
from pages.classroom.rooms import ABSENCE, CODE_LENGTH, EXERCISES, ROOMS, Key, RoomPage, RoomRefused
from pages.components import room as room_component
from pages.components.modules import join_modules, join_styles
from pages.export.document_texts import workbench_address
from pages.export.flow_files import list_drawings
from pages.lectures import lecture_session
from pages.lectures.script import Lecture, lecture_to_file
from pages.presentation.lecture_files import MAKING_SLOT, make_slide_show
from pages.presentation.lesson_slide import DrawnParts, draw_next_part
from pages.presentation.poll import make_poll
from pages.session import setup_state
from pages.session.addresses import MAX_ADDRESS_CHARS, is_local, page_address
from pages.session.collected import collect_part
from pages.setup.codec import setup_to_link
from pages.site.words import current_language, escape_markdown, say
from pages.workbench.sharing import show_qr_code

FILLED_IN_BROWSER = "{count}"  # the browser fills in how many follow
COUNT_SECONDS = 3.0  # seconds after which the class is counted again
FOLLOW_TEXTS = ("waiting", "following", "exploring", "lost", "ended", "leave", "back", "changed")
POLL_TEXTS = ("answers", "truth")  # the names of the bars of a poll


# ---- on the stage ----------------------------------------------------------------------------------------------------
def show_room() -> None:
    """Shows the code of the lecturer's room as text and QR code; opens the room if there is none.

    First it draws all parts of lessons that the lecture shows, one per script run.
    """
    session, lecture = lecture_session.get_lecture_session(), lecture_session.current_lecture()
    if session.is_room_over:
        st.info(say("present.room.over"), icon=":material/info:")
        st.button(say("present.room.again"), key="room_again", on_click=forget_room)
        return
    page = ROOMS.find_page(session.room) if session.room else None
    digest = digest_lecture(lecture)
    if page is None or page.digest != digest:
        drawn, waiting = draw_next_part(lecture)
        if waiting:
            st.caption(say("present.room.drawing", count=waiting))
            st.rerun()
        with st.spinner(say("present.room.making")):
            made = make_room_page(lecture, drawn, digest)
        try:
            give_page(made)
        except RoomRefused as error:
            st.error(say(f"present.room.refused.{error.code}", **error.values), icon=":material/error:")
            return
    show_room_code(session.room)


def give_page(page: RoomPage) -> None:
    """Gives the page to the lecturer's room; opens the room if there is none. Raises RoomRefused."""
    session = lecture_session.get_lecture_session()
    if session.room is not None and ROOMS.find_page(session.room) is not None:
        ROOMS.replace(session.room, page)
    else:
        session.room = ROOMS.open(page)


def show_room_code(key: Key) -> None:
    """Shows where the audience follows: the QR code, the address, the code, and the button that ends the room."""
    address = room_address()
    link = f"{address}?room={key.code}"
    with st.container(horizontal=True, gap="large", key="room_code"):
        show_qr_code(link)
        with st.container():
            plain = escape_markdown(address.partition("://")[2])
            st.markdown(f"### {say('present.room.scan', address=plain)}")
            st.markdown(f"# {key.code}")
            st.caption(say("present.room.how", minutes=round(ABSENCE / 60)))
            if is_local(link):
                st.info(say("present.room.only_here"), icon=":material/computer:")
            st.button(say("present.room.end"), key="end_room", icon=":material/stop_circle:", on_click=end_room)
    st.fragment(show_class_work, run_every=COUNT_SECONDS, key="class_work")(key)


def show_class_work(key: Key) -> None:
    """Shows how many of those who work on an exercise have got how far."""
    st.caption(say("present.room.work.how"))
    counted = ROOMS.count_progress(key)
    for column, exercise in zip(st.columns(len(EXERCISES), gap="large"), EXERCISES, strict=True):
        reached = counted.get(exercise, Counter())
        with column:
            title = say(f"page.{exercise}")
            st.markdown(say("present.room.work.at_work", title=title, count=reached.total()))
            for each, count in sorted(reached.items()):
                text = say("present.room.work.reached", done=each.done, total=each.total, count=count)
                st.progress(count / reached.total(), text)


def room_address() -> str:
    """Returns the address at which the audience types the code of a room."""
    app, _, _ = page_address().rpartition("/")
    return f"{app}/room"


def end_room() -> None:
    """Ends the lecturer's room, for all who follow."""
    session = lecture_session.get_lecture_session()
    if session.room is not None:
        ROOMS.end(session.room)
    session.room, session.is_room_over = None, True


def forget_room() -> None:
    """Lets the stage open a new room, after the former one has ended."""
    lecture_session.get_lecture_session().is_room_over = False


# ---- the lecturer's browser ------------------------------------------------------------------------------------------
def tell_room() -> None:
    """Lets the lecturer's browser tell the room where the lecture stands, and keep the key of the room."""
    session = lecture_session.get_lecture_session()
    key = session.room
    place = None
    if session.scene_step is not None:
        place = {"scene": session.at + 1, "step": session.scene_step, "link": link_to_changed_scene()}
    poll = make_poll(lecture_session.current_scene()) if key and place else None
    room_component(
        data={
            "key": {"code": key.code, "secret": key.secret} if key else None,
            "ended": session.is_room_over,
            "place": place,
            "poll": asdict(poll) if poll else None,
            "texts": {
                **{name: say(f"present.room.poll.{name}") for name in POLL_TEXTS},
                "open": say("present.room.poll.open", count=FILLED_IN_BROWSER),
            },
            "text": say("present.room.told", code=key.code, count=FILLED_IN_BROWSER) if key else "",
        },
        key="room",
        on_kept=take_kept_room,
        on_lost=take_lost_room,
        width="content",
    )


def link_to_changed_scene() -> str:
    """Returns the query parameters of the workbench with which it shows what the lecturer has changed in the scene.

    Returns "" if nothing is changed, if the scene shows no run, or if the parameters are too long for an address.
    """
    is_run_changed = lecture_session.get_lecture_session().script is not None and lecture_session.is_scene_changed()
    if not is_run_changed:
        return ""
    link = urlencode(setup_to_link(setup_state.current_setup()) | {"lang": current_language()})
    return link if len(link) <= MAX_ADDRESS_CHARS else ""


def take_kept_room(kept: dict[str, str]) -> None:
    """Handles the key that a browser has kept, for example before it was reloaded."""
    session, key = lecture_session.get_lecture_session(), Key(kept["code"][:CODE_LENGTH], kept["secret"])
    if session.room is not None:
        return
    if ROOMS.find_page(key) is None:
        session.is_room_over = True
    else:
        session.room = key
    st.rerun()


def take_lost_room(_: bool) -> None:
    """Handles the message that the server no longer has the room, for example after a restart."""
    session = lecture_session.get_lecture_session()
    session.room, session.is_room_over = None, True
    st.rerun()


# ---- the page of the audience ----------------------------------------------------------------------------------------
def make_room_page(lecture: Lecture, drawn: DrawnParts, digest: str) -> RoomPage:
    """Returns the page of a lecture for the audience, in the language of the session, without the speaker's notes.

    Its ground is light, whatever the theme of the lecturer: the palette is that of files, as while a part is collected.
    drawn: {part of a lesson: its collected content} for the parts that the lecture shows. digest: of digest_lecture.
    """
    with collect_part(), MAKING_SLOT:
        show = make_slide_show(lecture, drawn, workbench_address(), "")
        slides = tuple(replace(slide, notes="") for slide in show.slides)
        texts = {name: say(f"present.room.follow.{name}") for name in FOLLOW_TEXTS}
        texts |= {name: say(f"present.room.poll.{name}") for name in POLL_TEXTS}
        found = {number: make_poll(scene) for number, scene in enumerate(lecture.scenes, start=1)}
        polls = {number: poll for number, poll in found.items() if poll is not None}
        drawings = {**list_drawings(), POLL_PART: make_poll_drawing()}
        exercises = {exercise: say(f"page.{exercise}") for exercise in EXERCISES}
        follow_texts = FollowTexts(digest, **texts, polls=polls, exercises=exercises)
        page = lecture_page(replace(show, slides=slides), drawings, follow_texts)
        return RoomPage(gzip.compress(page.encode(), mtime=0), digest)


def make_poll_drawing() -> PartDrawing:
    """Returns the script, HTML and style with which the page of the audience draws a poll."""
    return PartDrawing(join_modules(POLL_PART), '<div class="poll"></div>', join_styles([POLL_PART]))


def digest_lecture(lecture: Lecture) -> str:
    """Returns a text that tells a lecture, in the language of the session, from another."""
    return sha256(f"{current_language()} {lecture_to_file(lecture)}".encode()).hexdigest()[:16]
