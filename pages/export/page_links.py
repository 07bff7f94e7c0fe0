"""Shows buttons that open a Setup (the state of the workbench) on the workbench, or as an exercise."""

from collections.abc import Mapping

import streamlit as st

from attention_core import AttentionError
from attention_core.exercises.stages import stages_of
from pages.panels.lesson_choices import LessonChoices
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.linked_state import open_page
from pages.session.opened_drawers import scroll_when_drawn
from pages.setup.codec import run_to_query
from pages.setup.setup import Setup
from pages.setup.twins import link_in_language
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import current_language, say, say_refusal

CHECK_PAGE = "check"
STATE_KIND = "state"  # kind of exercise that is made from a Setup
MAX_EXERCISE_STEP_CELLS, MAX_EXERCISE_ROW_CELLS = 200, 16  # most cells of an exercise's step, and of one row of it


def check_exercise_size(setup: Setup) -> None:
    """Raises AttentionError if a Setup (the state of the workbench) cannot become an exercise.

    Codes: exercise_file if the Setup uses inputs from a file, exercise_size if it is too large.
    """
    if setup.run.file is not None:
        raise AttentionError("exercise_file")
    trace = trace_for(setup)
    for step in stages_of(trace):
        cells = trace[step].numel()
        across = trace.step(step).shape[-1]
        if cells > MAX_EXERCISE_STEP_CELLS or across > MAX_EXERCISE_ROW_CELLS:
            raise AttentionError(
                "exercise_size",
                name=step,
                given=cells,
                wide=across,
                limit=MAX_EXERCISE_STEP_CELLS,
                across=MAX_EXERCISE_ROW_CELLS,
            )


def link_to_exercise(setup: Setup, key: str) -> None:
    """Shows a button that opens the run on the screen as an exercise with empty cells, or the reason why it cannot."""
    try:
        check_exercise_size(setup)
    except AttentionError as error:
        st.caption(say_refusal(error))
        return
    if st.button(say("lesson.exercise"), key=f"exercise_{key}", icon=":material/edit:", type="tertiary"):
        choices = LessonChoices(waiting={"kind": STATE_KIND, STATE_KIND: run_to_query(setup.run)})
        st.session_state.setdefault("lessons", {})[CHECK_PAGE] = choices
        st.session_state.pop("exercise", None)
        st.switch_page(PAGES_BY_SLUG[CHECK_PAGE].path)


def link_to_workbench(setup: Setup, key: str, label: str | None = None, help: str | None = None) -> None:
    """Shows a button that opens a Setup on the workbench.

    label: the button's text; None for the default label.
    """
    label = label or say("lesson.workbench")
    if st.button(label, key=f"door_{key}", icon=":material/grid_on:", type="tertiary", help=help):
        setup_state.adopt_setup(setup)
        workbench = PAGES_BY_SLUG["workbench"]
        st.switch_page(workbench.path)


def link_to_drawer(slug: str, drawer: str, link: Mapping[str, str], label: str) -> None:
    """Shows a button that opens an accordion of a lesson, to which the page then scrolls.

    link: the other parameters of the lesson's link.
    """
    key = f"{slug}.drawer.{drawer}"
    if st.button(label, key=f"to_{key}", icon=":material/arrow_forward:", type="tertiary"):
        scroll_when_drawn(key)
        parameters = link_in_language(slug, {**link, "open": drawer}, current_language())
        open_page(slug, parameters)
