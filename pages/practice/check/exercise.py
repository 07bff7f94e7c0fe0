"""What is calculated by hand: an exercise from a seed, the printed example, or any state small enough to be written."""

from collections.abc import Mapping

import streamlit as st

from attention_core import Trace
from attention_core.exercises.generator import LEVELS, exercise
from attention_core.exercises.marking import PRINTED
from attention_core.exercises.worked_example import STAGES, blank_text, printed_text, stages_of
from pages.export.doors import SLUG, STATE, check_size
from pages.panels.link_controls import choice, choose, keep, whole
from pages.setup.setup import MOST, Setup, another, count, from_query
from pages.site.words import say

EXAMPLE = "source_004"
KINDS = (*LEVELS, "printed")
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
