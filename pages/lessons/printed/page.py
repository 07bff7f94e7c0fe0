"""Which numbers of a printed example are wrong? Its page; then its numbers beside the right ones, each marked."""

from functools import partial

import streamlit as st

from attention_core.exercises.marking import Mark
from attention_core.exercises.stages import STAGES
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.printed.drawers import LESSON
from pages.lessons.printed.given_matrices import choose_given_setup
from pages.lessons.printed.paper import show_paper
from pages.lessons.printed.printed_stages import (
    FIRST_STAGE,
    check_printed_stages,
    handle_written_click,
    make_printed_work,
    offer_right_numbers,
)
from pages.lessons.prompts import ask_to_find_errors
from pages.lessons.worked_example import close_on_change, count_marked_numbers, show_work
from pages.panels.fact import show_fact
from pages.panels.link_controls import choose_option
from pages.panels.slips import show_met
from pages.site.words import say

with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stage = choose_option("stage", tuple(STAGES), FIRST_STAGE)
        setup = choose_given_setup(stage)
        checked = check_printed_stages(setup, stage)
    step = STAGES[stage]
    close_on_change("hero", step)
    counts = count_marked_numbers(checked.marked[step])
    printed = say(f"lessons.printed.control.{stage}")
    place_of_fact = st.container()
    known = None
    if counts["count"]:
        known = ask_to_find_errors(checked.cells(step, Mark.SLIP))
    is_asked = known is None or offer_right_numbers(stage)
    fact = "fact" if is_asked else "fact_asked"
    if not counts["count"]:
        fact = "fact_none"
    with place_of_fact:
        show_fact(say(f"lessons.printed.{fact}", printed=printed, **counts))
    show_paper(checked, stage)
    show_met(checked, step, named=known is None)
    parts = make_printed_work(checked, stage, known, hidden=not is_asked)
    show_work("hero", checked, [parts], partial(handle_written_click, checked))
    show_lesson_run(setup, place)
    draw_drawers(LESSON, checked, setup)
    show_lesson_code(LESSON, checked.trace)
