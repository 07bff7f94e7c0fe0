"""Lets a visitor work on an exercise as one of a class: the lecturer's room counts how far everybody has got.

The link of the page names the room and, after a point, a random name of the browser, so that nobody is counted twice
after a reload. Nothing that the visitor types reaches the room.
"""

import os
import re

import streamlit as st

from pages.classroom.rooms import ROOMS, Reached, read_code
from pages.panels.lesson_choices import ROOM_KEY, current_slug, get_choice, store_choice
from pages.site.words import say

SEAT = re.compile(r"[A-Z0-9]{6}(\.[0-9a-f]{16})?")
NAME_BYTES = 8  # random bytes of a browser's name


def report_progress(done: int, total: int) -> None:
    """Tells the room that the page's link names how far the visitor has got, and shows the room; does nothing without.

    done: how many of the exercise's parts are right. total: how many parts it has.
    """
    code, _, browser = get_choice(ROOM_KEY, "", read_seat).partition(".")
    if not code:
        return
    browser = browser or os.urandom(NAME_BYTES).hex()
    store_choice(ROOM_KEY, f"{code}.{browser}")
    is_open = ROOMS.report(code, current_slug(), browser, Reached(done, total))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        text = say("present.room.work.counted" if is_open else "present.room.work.over", code=code)
        st.caption(f":material/groups: {text}", width="content")
        st.button(say("present.room.work.leave"), key="leave_class", on_click=store_choice, args=(ROOM_KEY, None))


def read_seat(text: str) -> str:
    """Parses the code of a room, with or without a browser's name; raises ValueError for any other text.

    >>> read_seat("k7q-fem")
    'K7QFEM'
    >>> read_seat("K7QFEM.0123456789abcdef")
    'K7QFEM.0123456789abcdef'
    """
    code, point, browser = text.partition(".")
    seat = read_code(code) + point + browser
    if not SEAT.fullmatch(seat):
        raise ValueError(f"must be the code of a room, was {text[:40]!r}")
    return seat
