"""Chooses the exercise to calculate by hand (from a seed, the printed example, or any small Setup), and prints it.

A printed sheet is blank or has the solutions.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from attention_core import AttentionError, Trace
from attention_core.documents.handout import PAPERS, check_paper_size, exercise_paper
from attention_core.documents.provenance import Provenance
from attention_core.exercises.answer_text import blank_text, printed_text
from attention_core.exercises.generator import LEVELS, make_exercise
from attention_core.exercises.printed_example import PRINTED_EXAMPLES
from attention_core.exercises.stages import STAGES, stages_of
from attention_core.inputs.matrix_values import REMOVED
from pages.export.document_texts import make_document_texts
from pages.export.downloads import file_name, offer_download
from pages.export.page_links import CHECK_PAGE, STATE_KIND, check_exercise_size
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, choose_whole_number
from pages.practice.check.answers import renew_answer_cells
from pages.runs.cache import cache_measurement
from pages.session.addresses import page_address
from pages.session.labels import selection_of
from pages.setup.codec import read_compared_run, run_from_query, run_to_query
from pages.setup.link_values import MAX_LINK_NUMBER, read_link_count
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language, say, say_refusal

EXERCISE_EXAMPLE = "source_004"
EXERCISE_KINDS = (*LEVELS, "printed")
FIRST_SEED = 1  # the seed of the first exercise, the default


def choose_exercise() -> tuple[str, Setup]:
    """Shows the controls of the exercise; returns its kind and its Setup."""
    given = get_choice(STATE_KIND, None, read_exercise_link)
    kinds = EXERCISE_KINDS if given is None else (*EXERCISE_KINDS, STATE_KIND)
    kind = choose_option("kind", kinds)
    if kind in LEVELS:
        seed = choose_whole_number("seed", FIRST_SEED, width=130)
        label = say(f"lessons.{CHECK_PAGE}.next")
        st.button(label, key="next_exercise", on_click=go_to_next_exercise, args=(seed,))
        setup = setup_for_level(kind, seed)
    elif kind == "printed":
        setup = make_setup(example=EXERCISE_EXAMPLE)
    else:
        setup = Setup(run_from_query(given))
    return kind, setup


@cache_measurement
def setup_for_level(level: str, seed: int) -> Setup:
    """Returns the Setup of the random exercise that a level and a seed determine."""
    exercise = make_exercise(level, seed)
    if "q" in exercise.matrices:
        return make_setup(example="one_query", score="scaled_dot", **exercise.matrices)
    parts = {
        "w_o": REMOVED,
        "heads": exercise.heads,
        "masks": exercise.masks or None,
        **exercise.matrices,
    }
    return make_setup(example=EXERCISE_EXAMPLE, **parts)


def exercise_link_values(kind: str) -> dict[str, object]:
    """Returns the query parameters of a link that opens this exercise, including default values."""
    values = {"kind": kind}
    if kind in LEVELS:
        values["seed"] = get_choice("seed", FIRST_SEED, read_link_count)
    elif kind == STATE_KIND:
        values[STATE_KIND] = get_choice(STATE_KIND, None, read_exercise_link)
    return values


def go_to_next_exercise(seed: int) -> None:
    """Opens the exercise of the next seed at the same level."""
    store_choice("seed", (seed + 1) % MAX_LINK_NUMBER)


def clear_on_new_exercise(setup: Setup, trace: Trace) -> None:
    """Empties all cells if the exercise is not the one that was shown before."""
    shown_before = st.session_state.get("exercise", setup)
    if shown_before != setup:
        for step in stages_of(trace):
            store_choice(step, None)
        renew_answer_cells()
    st.session_state["exercise"] = setup


def initial_cell_texts(kind: str, trace: Trace) -> Mapping[str, str]:
    """Returns the initial text of the cells, by step: blank, or the numbers of the printed example."""
    if kind != "printed":
        return {step: blank_text(trace[step]) for step in stages_of(trace)}
    printed = PRINTED_EXAMPLES[EXERCISE_EXAMPLE]
    texts = {}
    for stage, step in STAGES.items():
        texts[step] = printed_text(printed, stage, trace[step])
    return texts


# ---- any Setup as an exercise ----------------------------------------------------------------------------------------
def read_exercise_link(text: str) -> str:
    """Returns the normal form of a Setup's link, after checking that the Setup can be an exercise.

    Raises ValueError if the link is unreadable, AttentionError if the Setup cannot be an exercise.
    """
    run = read_compared_run(text)
    check_exercise_size(Setup(run))
    return run_to_query(run)


# ---- sheets to print -------------------------------------------------------------------------------------------------
def show_printing(kind: str, trace: Trace, setup: Setup) -> None:
    """Shows a popover with downloads of the exercise's sheets to print."""
    opened = st.popover(
        say("lessons.check.print"),
        icon=":material/print:",
        type="tertiary",
        key="printing",
        on_change="rerun",
    )
    if opened.open:
        with opened:
            show_sheets(kind, trace, setup)


def show_sheets(kind: str, trace: Trace, setup: Setup) -> None:
    """Shows the downloads of the sheets, or the reason if the exercise is too large for paper."""
    try:
        check_paper_size(trace)
    except AttentionError as refusal:
        st.caption(say_refusal(refusal))
        return
    texts = make_document_texts(trace, setup, selection_of(trace, setup))
    texts = replace(texts, sentence=say("lessons.check.task"))
    provenance = make_exercise_provenance(kind)
    headings = (say("lessons.check.given"), say("lessons.check.asked"))
    for solved, name in ((False, "blank"), (True, "solved")):
        st.caption(say(f"lessons.check.{name}"))
        with st.container(horizontal=True, gap="xsmall"):
            for paper in PAPERS:
                make = partial(exercise_paper, trace, provenance, texts, paper, headings, solved)
                file = file_name(setup, "html", "exercise", name, paper)
                offer_download(f"{name}_{paper}", file, "text/html", make, paper)


def make_exercise_provenance(kind: str) -> Provenance:
    """Returns the origin that a sheet states: its title, and the link at which answers can be checked."""
    values = exercise_link_values(kind)
    values["lang"] = current_language()
    address = f"{page_address()}?{urlencode(values)}"
    title = say("lessons.check.question")
    return Provenance(title, address, (say("export.made_with"),))
