"""Shows the page "check": compares an exercise calculated by hand with the right run and the visitor's own steps."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attention_core.exercises.slips import StepSlips
from attention_core.exercises.stages import stage_formula, stages_of
from attention_core.exercises.worked_example import CheckedWork
from pages.lessons.frame import Lesson, draw_page_frame, show_lesson_code, show_lesson_run, show_question
from pages.lessons.sentences import show_sentence
from pages.lessons.worked_example import (
    close_on_change,
    count_marked_numbers,
    is_step_right,
    label_stage,
    make_work_parts,
    show_exercise,
    show_met,
    show_slips,
)
from pages.panels.link_controls import choose_option, switch, text_box
from pages.practice.check.answers import get_answer_text, is_text_chosen, make_answer_check, show_worked_table
from pages.practice.check.exercise import choose_exercise, clear_on_new_exercise, initial_cell_texts, show_printing
from pages.practice.class_work import report_progress
from pages.runs.cache import checked_answers_for, slips_for, trace_for
from pages.session.answers import are_answers_revealed
from pages.session.labels import current_palette, formula_names, inline_step_name, place_name
from pages.setup.setup import Setup
from pages.site.words import say

# ---- whether the right numbers of a step are shown: on request for one step, or with all answers ---------------------
ASKED_KEY = "right_asked"  # session key of the exercise and the step whose right numbers were requested


def show_right(setup: Setup, step: str) -> None:
    """Records that the visitor requested the right numbers of a step, instead of those of an earlier step."""
    st.session_state[ASKED_KEY] = (setup, step)


# ---- the verdict on the numbers that were entered for a step ---------------------------------------------------------
KINDS_OF_NUMBERS = ("right", "slip", "followed", "blank")


def show_step_verdict(checked: CheckedWork, step: str, slips: Mapping[str, StepSlips]) -> None:
    """Shows the errors of all steps, then how many numbers of the step are right."""
    show_slips(checked, slips)
    counts = count_marked_numbers(checked.marked[step])
    if is_step_right(checked, step):
        show_sentence("lessons.check.done", **counts)
    elif not counts["count"]:
        show_sentence("lessons.check.untouched", count=counts["blank"])
    else:
        told = [say(f"lessons.check.tally.{kind}", count=counts[kind]) for kind in KINDS_OF_NUMBERS if counts[kind]]
        listed = say("fact.comma").join(told)
        show_sentence("lessons.check.still", count=counts["count"] + counts["blank"], told=listed)
    show_met(checked, step)


with draw_page_frame("check") as place:
    show_question("check")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind, setup = choose_exercise()
        trace = trace_for(setup)
        show_printing(kind, trace, setup)
    clear_on_new_exercise(setup, trace)
    if kind == "printed":
        show_sentence("lessons.check.from_print")
    starts = initial_cell_texts(kind, trace)
    stages = stages_of(trace)
    texts = {step: get_answer_text(trace, step, start) for step, start in starts.items()}
    checked = checked_answers_for(setup, texts, stages)
    slips = slips_for(setup, texts, stages)
    report_progress(sum(is_step_right(checked, step) for step in stages), len(stages))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = {step: label_stage(checked, step) for step in stages}
        step = choose_option("stage", tuple(stages), words=labels.__getitem__)
        heads = [str(head) for head in range(trace.sizes()["H"])]
        head = 0
        if "H" in trace.step(step).dims and len(heads) > 1:
            chosen = choose_option("head", heads, words=lambda name: place_name(trace, "H", int(name)))
            head = int(chosen)
        if not is_step_right(checked, step):
            st.button(say("lessons.check.show_right"), key="show_right", on_click=show_right, args=(setup, step))
        switch("as_text")
        # Above the cells that it explains, also on a phone; in this row, so that the cells stay above the fold.
        st.latex(stage_formula(trace, step, current_palette().families(), formula_names(trace)), width="content")
    close_on_change("work", setup, step, head)
    own = "own_printed" if kind == "printed" else "own"
    parts = make_work_parts(
        checked,
        step,
        inline_step_name,
        own=say(f"lessons.check.{own}", step=inline_step_name(step)),
        right=say("lessons.check.right"),
        hidden=not (are_answers_revealed() or st.session_state.get(ASKED_KEY) == (setup, step)),
        head=head,
        apart=not is_text_chosen(),
    )
    show_verdict = partial(show_step_verdict, checked, step, slips)
    if is_text_chosen():
        show_verdict()  # above the text, where it is in view
        with st.container(horizontal=True, gap="medium"):
            with st.container(width="content"):
                text_box(step, starts[step], make_answer_check(trace, step), tall=True, height="content")
            show_exercise("work", checked, [parts], asked=are_answers_revealed())
    else:
        show_worked_table(checked, step, head, parts, starts, show_verdict)
    show_lesson_run(setup, place)
    show_lesson_code(Lesson("check", drawers={}, code=tuple(stages)), trace)
