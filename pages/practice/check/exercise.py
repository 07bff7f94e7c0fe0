"""What is calculated by hand: an exercise from a seed, the printed example, or any state small enough to be written."""

from collections.abc import Mapping

import streamlit as st

from attention_core import Trace
from attention_core.exercises.generator import LEVELS, make_exercise
from attention_core.exercises.marking import PRINTED_EXAMPLES
from attention_core.exercises.worked_example import STAGES, blank_text, printed_text, stages_of
from pages.export.doors import CHECK_PAGE, STATE_KIND, check_exercise_size
from pages.panels.link_controls import choose_option, choose_whole_number, get_choice, store_choice
from pages.setup.link_values import MAX_LINK_NUMBER, read_link_count
from pages.setup.setup import Setup, read_other_setup_link, setup_from_query
from pages.site.words import say

EXERCISE_EXAMPLE = "source_004"
EXERCISE_KINDS = (*LEVELS, "printed")
FIRST_SEED = 1  # the seed to begin with


def choose_exercise() -> tuple[str, Setup]:
    """The kind of exercise and its Setup, with what chooses them."""
    given = get_choice(STATE_KIND, None, read_exercise_link)
    kind = choose_option("kind", EXERCISE_KINDS if given is None else (*EXERCISE_KINDS, STATE_KIND))
    if kind in LEVELS:
        seed = choose_whole_number("seed", FIRST_SEED, width=130)
        st.button(say(f"lessons.{CHECK_PAGE}.next"), key="next_exercise", on_click=go_to_next_exercise, args=(seed,))
        return kind, setup_for_level(kind, seed)
    return kind, Setup(example=EXERCISE_EXAMPLE) if kind == "printed" else setup_from_query(given)


def setup_for_level(level: str, seed: int) -> Setup:
    """The Setup of a drawn exercise."""
    drawn = make_exercise(level, seed)
    if "q" in drawn.matrices:
        return Setup(example="one_query", score="scaled_dot", **drawn.matrices)
    parts = {"w_o": "none", "heads": drawn.heads, "masks": drawn.masks or None}
    return Setup(example=EXERCISE_EXAMPLE, **{**parts, **drawn.matrices})


def exercise_link_values(kind: str) -> dict[str, object]:
    """What the link of an exercise says, also where it is the usual."""
    if kind in LEVELS:
        return {"kind": kind, "seed": get_choice("seed", FIRST_SEED, read_link_count)}
    return {"kind": kind} | (
        {STATE_KIND: get_choice(STATE_KIND, None, read_exercise_link)} if kind == STATE_KIND else {}
    )


def go_to_next_exercise(seed: int) -> None:
    """Another one of the same level."""
    store_choice("seed", (seed + 1) % MAX_LINK_NUMBER)


def clear_on_new_exercise(setup: Setup, trace: Trace) -> None:
    """Another exercise begins with empty cells."""
    if st.session_state.get("exercise", setup) != setup:
        for step in stages_of(trace):
            store_choice(step, None)
    st.session_state["exercise"] = setup


def initial_cell_texts(kind: str, trace: Trace) -> Mapping[str, str]:
    """What stands in the cells of every step at first: nothing, or what was printed."""
    if kind != "printed":
        return {step: blank_text(trace[step]) for step in stages_of(trace)}
    return {
        step: printed_text(PRINTED_EXAMPLES[EXERCISE_EXAMPLE], stage, trace[step]) for stage, step in STAGES.items()
    }


# ---- any state as an exercise ----------------------------------------------------------------------------------------
def read_exercise_link(text: str) -> str:
    """The link of a Setup that can be an exercise."""
    link = read_other_setup_link(text)
    check_exercise_size(setup_from_query(link))
    return link
