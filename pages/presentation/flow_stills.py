"""Lets the browser draw the pictures of queries on a lecture's slides, one after the other, for files.

A slide file is written on the server, but only the browser can draw these pictures, by the same JavaScript as on the
page. While the overview shows the buttons of the files, a component draws the pictures outside the visible page and
sends each as a PNG.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st

from attention_core.documents.slides import SlideFrame, SlidePicture
from pages import components
from pages.lectures.kinds.picture import MAX_PICTURE_SIDE_PX, PNG_SIGNATURE, find_picture_size
from pages.lectures.script import Lecture, Scene
from pages.panels.flow_data import Showing
from pages.panels.flow_formulas import draw_formulas
from pages.panels.flow_picture import make_journey_data
from pages.panels.flow_run import flow_run_for
from pages.panels.head_maps import fact_sentence
from pages.presentation.setup_slide import SlidesBefore, list_shown_motions, make_computable_screen
from pages.session.collected import collect_part
from pages.session.view import ScreenState
from pages.setup.setup import Setup
from pages.site.words import current_language, say

STILLS_KEY = "flow_stills"  # session key of the received pictures: {FlowStill: PNG, or b""}
MAX_STILLS = 120  # most pictures that are kept, enough for 60 scenes, some of them with several keyframes


@dataclass(frozen=True)
class FlowStill:
    """A flow picture for a slide: of a computable Setup, in a language.

    stop: the number of finished keyframes in it; None for all.
    """

    setup: Setup
    stop: int | None
    language: str


FlowStills = Mapping[FlowStill, bytes]


def list_stills(screen: ScreenState, known: tuple[str, ...]) -> list[FlowStill]:
    """Returns the flow pictures of a slide: one for each keyframe with a motion that is new, and one of the animation's
    end.

    known: the motions that earlier slides show.
    """
    language = current_language()
    stops = flow_run_for(screen).stops
    new = [count for count, stop in enumerate(stops[:-1], start=1) if stop["motion"] not in known]
    return [FlowStill(screen.setup, count, language) for count in (*new, None)]


def draw_next_still(lecture: Lecture) -> tuple[FlowStills, int]:
    """Shows the component that draws the first flow picture of a lecture that has not been received yet.

    Returns the received pictures, and the number of missing ones.
    """
    kept = st.session_state.setdefault(STILLS_KEY, {})
    wanted = list_lecture_stills(lecture)
    waiting = [still for still in wanted if still not in kept]
    if waiting:
        still = waiting[0]
        key = sha256(repr(still).encode()).hexdigest()
        with collect_part():  # collected pictures have the light theme's colours
            screen, _ = make_computable_screen(still.setup)
            flow = make_journey_data(screen, Showing(begins="end"))
            formulas = draw_formulas(screen)
        components.flow_stills(
            data=components.pack_bytes({"key": key, "flow": flow, "stop": still.stop, "formulas": formulas}),
            key="flow_stills_drawer",
            on_drawn=lambda sent: keep_still(still, sent["picture"]) if sent["key"] == key else None,
        )
    return {still: kept[still] for still in wanted if still in kept}, len(waiting)


def list_lecture_stills(lecture: Lecture) -> list[FlowStill]:
    """Returns the flow pictures of all slides of a lecture in order, each only once."""
    found: dict[FlowStill, None] = {}
    known: tuple[str, ...] = ()
    for scene in lecture.scenes:
        motions = list_shown_motions(scene)
        if motions:
            screen, _ = make_computable_screen(scene.setup)
            found |= dict.fromkeys(list_stills(screen, known))
        known = (*known, *motions)
    return list(found)[:MAX_STILLS]


def list_frames(scene: Scene, before: SlidesBefore, stills: FlowStills) -> list[SlideFrame]:
    """Returns the received keyframes of a slide, each with its sentence; [] if the last one is missing."""
    if not stills or not list_shown_motions(scene):
        return []
    screen, _ = make_computable_screen(scene.setup)
    run = flow_run_for(screen)
    end = fact_sentence(screen.trace, screen.selection, spell=str)
    frames = []
    for still in list_stills(screen, before.motions):
        told = end if still.stop is None else say(f"flow.told.{run.stops[still.stop - 1]['motion']}")
        if stills.get(still):
            frames.append(SlideFrame(told, SlidePicture(stills[still], told, "image/png")))
        elif still.stop is None:
            return []
    return frames


def keep_still(still: FlowStill, picture: str) -> None:
    """Stores a picture that the browser sent in base64; stores b"" if it is no PNG or too large."""
    kept = st.session_state.setdefault(STILLS_KEY, {})
    while len(kept) >= MAX_STILLS:
        del kept[next(iter(kept))]
    kept[still] = read_png(picture)


def read_png(picture: str) -> bytes:
    """Decodes a PNG from base64; returns b"" if the text is no PNG or the picture is too large.

    >>> read_png("bm90IGEgcGljdHVyZQ=="), read_png("?")
    (b'', b'')
    """
    try:
        data = base64.b64decode(picture, validate=True)
    except ValueError:
        return b""
    size = find_picture_size(data) if data.startswith(PNG_SIGNATURE) else None
    is_possible = size is not None and all(1 <= side <= MAX_PICTURE_SIDE_PX for side in size)
    return data if is_possible else b""
