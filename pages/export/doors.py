"""TODO"""

import streamlit as st

from attention_core import AttentionError
from attention_core.exercises.worked_example import stages_of
from pages.panels.link_controls import Kept
from pages.runs.cache import trace_of
from pages.session import setup_state
from pages.setup.setup import Setup, query
from pages.site.catalog import PAGE
from pages.site.words import say, sentence

SLUG = "check"


STATE = "state"  # of the workbench, or of a lesson: in the list of kinds where there is one


MOST_CELLS, MOST_ACROSS = 200, 16  # numbers of a step; of a row


def check_size(setup: Setup) -> None:
    """Raises AttentionError where a Setup has more numbers than anybody writes, or none that a link can say."""
    if setup.file is not None:
        raise AttentionError("exercise_file")
    trace = trace_of(setup)
    sizes = {step: (trace[step].numel(), trace[step].shape[-1]) for step in stages_of(trace)}
    for step, (cells, across) in sizes.items():
        if cells > MOST_CELLS or across > MOST_ACROSS:
            most = {"limit": MOST_CELLS, "across": MOST_ACROSS}
            raise AttentionError("exercise_size", name=step, given=cells, wide=across, **most)


def exercise_door(setup: Setup, key: str) -> None:
    """Opens a state as an exercise, its cells empty; or says why it is none."""
    try:
        check_size(setup)
    except AttentionError as error:
        st.caption(sentence(error))
        return
    if st.button(say("lesson.exercise"), key=f"exercise_{key}", icon=":material/edit:", type="tertiary"):
        st.session_state.setdefault("lessons", {})[SLUG] = Kept(waiting={"kind": STATE, STATE: query(setup)})
        st.session_state.pop("exercise", None)
        st.switch_page(PAGE[SLUG].path)


def workbench_door(setup: Setup, key: str) -> None:
    """Opens a run in the workbench."""
    if st.button(say("lesson.workbench"), key=f"door_{key}", icon=":material/grid_on:", type="tertiary"):
        setup_state.adopt(setup)
        st.switch_page(PAGE["workbench"].path)
