"""Check your work: an exercise by hand, each number judged twice, and the mistake named."""

import streamlit as st

from attention_core.exercises.stages import stage_formula, stages_of
from pages.lessons.frame import draw_page_frame, show_lesson_code, show_lesson_run
from pages.lessons.worked_example import (
    close_with,
    count_marked_numbers,
    is_step_right,
    label_stage,
    make_work_parts,
    show_exercise,
)
from pages.panels.answers import answer_box, get_answer_text
from pages.panels.link_controls import choose_option
from pages.panels.slips import show_met, show_slips
from pages.practice.check.exercise import choose_exercise, clear_on_new_exercise, initial_cell_texts
from pages.practice.check.paper import show_printing
from pages.runs.cache import checked_answers_for, slips_for, trace_for
from pages.session.labels import current_palette, inline_step_name, place_name
from pages.session.reveal import are_answers_revealed
from pages.site.words import say

with draw_page_frame("check") as place:
    st.markdown(f"#### {say('lessons.check.question')}\n{say('lessons.check.intro')}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind, setup = choose_exercise()
        trace = trace_for(setup)
        show_printing(kind, trace, setup)
    clear_on_new_exercise(setup, trace)
    if kind == "printed":
        st.markdown(say("lessons.check.from_print"))
    starts, stages = initial_cell_texts(kind, trace), stages_of(trace)
    texts = {step: get_answer_text(trace, step, start) for step, start in starts.items()}
    checked = checked_answers_for(setup, texts, stages)
    found = slips_for(setup, texts, stages)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = {step: label_stage(checked, step) for step in stages}
        step = choose_option("stage", tuple(stages), words=words.__getitem__)
        heads = [*map(str, range(trace.sizes()["H"]))]
        per_head = "H" in trace.step(step).dims and len(heads) > 1
        head = choose_option("head", heads, words=lambda at: place_name(trace, "H", int(at))) if per_head else "0"
    close_with("work", setup, step, head)
    done = is_step_right(checked, step)
    written = "lessons.check.own_printed" if kind == "printed" else "lessons.check.own"
    titles = say(written, step=inline_step_name(step)), say("lessons.check.right")
    parts = make_work_parts(
        checked, step, inline_step_name, *titles, hidden=not (done or are_answers_revealed()), head=int(head)
    )
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            st.latex(stage_formula(trace, step, current_palette().families()))
            answer_box(trace, step, starts[step], int(head))
        show_exercise("work", checked, [parts], asked=are_answers_revealed())
    told = count_marked_numbers(checked.marked[step])
    st.markdown(say("lessons.check.done" if done else "lessons.check.still", **told))
    show_met(checked, step)
    show_slips(checked, found)
    show_lesson_run(setup, place)
    show_lesson_code(trace, tuple(stages))
