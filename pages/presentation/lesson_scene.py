"""A part of a lesson on the stage: the script of the lesson's page is run, and draws only that part."""

from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import streamlit as st

from pages.lectures import lecture_session
from pages.panels import lesson_choices
from pages.session.staged import StagedPart, stage_part
from pages.session.view import ScreenState
from pages.site.catalog import LESSONS, PAGES_BY_SLUG


@dataclass(frozen=True)
class BegunLesson:
    """The lesson that the stage shows. begun: the value of LectureSession.begun when it was started. link: its link at
    that time.
    """

    begun: int
    link: dict[str, str]


def show_lesson_step(screen: ScreenState) -> None:
    """Shows the scene's part of a lesson, at first with the scene's choices; records whether the choices were
    changed.
    """
    session = lecture_session.get_lecture_session()
    shown = lecture_session.current_scene().shown
    begun: BegunLesson | None = st.session_state.get("begun_lesson")
    goes_on = begun is not None and begun.begun == session.begun
    lesson_choices.enter_lesson_on_stage(shown.slug, None if goes_on else dict(shown.choices))
    staged = StagedPart(shown.part, st.container(key="staged_part"), is_answered=shown.slug in LESSONS)
    draw_lesson_part(shown.slug, staged)
    link = lesson_choices.get_lesson_link()
    if not goes_on:
        st.session_state["begun_lesson"] = BegunLesson(session.begun, link)
    session.departed = goes_on and link != begun.link


def forget_begun_lesson() -> None:
    """Makes the stage restart its lesson; needed after another lesson was drawn with the choices of the stage."""
    st.session_state.pop("begun_lesson", None)


def draw_lesson_part(slug: str, staged: StagedPart) -> None:
    """Draws a part of a lesson. Before this, enter_lesson_on_stage must have set the lesson's choices."""
    with stage_part(staged):
        run_page(PAGES_BY_SLUG[slug].path)


def run_page(path: Path) -> None:
    """Runs a page's file as a new module, as Streamlit does; no other thread sees the module."""
    spec = spec_from_file_location(f"staged_{path.parent.name}", path)
    page = module_from_spec(spec)
    spec.loader.exec_module(page)
