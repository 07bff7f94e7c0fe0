"""What is calculated by hand: an exercise from a seed, the printed example, or any state small enough to be written."""

from collections.abc import Mapping

import streamlit as st

from attention_core import AttentionError, Trace
from attention_core.exercises.generator import LEVELS, exercise
from attention_core.exercises.marking import PRINTED
from attention_core.exercises.worked_example import STAGES, blank_text, printed_text, stages_of
from pages.panels.link_controls import Kept, choice, choose, keep, whole
from pages.runs.cache import trace_of
from pages.setup.setup import MOST, Setup, another, count, from_query, query
from pages.site.catalog import PAGE
from pages.site.words import say, sentence

SLUG = "check"
EXAMPLE = "source_004"
KINDS = (*LEVELS, "printed")
STATE = "state"  # of the workbench, or of a lesson: in the list of kinds where there is one
MOST_CELLS, MOST_ACROSS = 200, 16  # numbers of a step; of a row
FIRST = 1  # the seed to begin with


def chosen_exercise() -> tuple[str, Setup]:
    """The kind of exercise and its Setup, with what chooses them."""
    given = choice(STATE, None, read_state)
    kind = choose("kind", KINDS if given is None else (*KINDS, STATE))
    if kind in LEVELS:
        seed = whole("seed", FIRST, width=130)
        st.button(say(f"lessons.{SLUG}.next"), key="next_exercise", on_click=next_exercise, args=(seed,))
        return kind, of_level(kind, seed)
    return kind, Setup(example=EXAMPLE) if kind == "printed" else from_query(given)


def of_level(level: str, seed: int) -> Setup:
    """The Setup of a drawn exercise."""
    drawn = exercise(level, seed)
    if "q" in drawn.matrices:
        return Setup(example="one_query", score="scaled_dot", **drawn.matrices)
    parts = {"w_o": "none", "heads": drawn.heads, "masks": drawn.masks or None}
    return Setup(example=EXAMPLE, **{**parts, **drawn.matrices})


def link_of(kind: str) -> dict[str, object]:
    """What the link of an exercise says, also where it is the usual."""
    if kind in LEVELS:
        return {"kind": kind, "seed": choice("seed", FIRST, count)}
    return {"kind": kind} | ({STATE: choice(STATE, None, read_state)} if kind == STATE else {})


def next_exercise(seed: int) -> None:
    """Another one of the same level."""
    keep("seed", (seed + 1) % MOST)


def begin_anew(setup: Setup, trace: Trace) -> None:
    """Another exercise begins with empty cells."""
    if st.session_state.get("exercise", setup) != setup:
        for step in stages_of(trace):
            keep(step, None)
    st.session_state["exercise"] = setup


def start_texts(kind: str, trace: Trace) -> Mapping[str, str]:
    """What stands in the cells of every step at first: nothing, or what was printed."""
    if kind != "printed":
        return {step: blank_text(trace[step]) for step in stages_of(trace)}
    return {step: printed_text(PRINTED[EXAMPLE], stage, trace[step]) for stage, step in STAGES.items()}


# ---- any state as an exercise ----------------------------------------------------------------------------------------
def read_state(text: str) -> str:
    """The link of a Setup that can be an exercise."""
    link = another(text)
    check_size(from_query(link))
    return link


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
