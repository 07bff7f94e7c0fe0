"""Can you trust a printed example? Its numbers beside the right ones, each marked from the numbers before it."""

import streamlit as st

from attention_core.exercises.marking import Mark
from attention_core.exercises.stages import STAGES
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.printed import drawers
from pages.lessons.prompts import ask_to_find_errors
from pages.lessons.worked_example import (
    close_with,
    count_marked_numbers,
    handle_written_click,
    make_printed_work,
    show_work,
)
from pages.panels.link_controls import choose_option
from pages.panels.slips import show_met
from pages.site.words import say

with draw_lesson("printed") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stage = choose_option("stage", tuple(STAGES), "scores")
        setup = drawers.choose_given_setup(stage)
        checked = drawers.check_printed_stages(setup, stage)
    step = STAGES[stage]
    close_with("hero", step)
    told = {"printed": say(f"lessons.printed.control.{stage}"), **count_marked_numbers(checked.marked[step])}
    st.markdown(f"##### {say('lessons.printed.fact' if told['count'] else 'lessons.printed.fact_none', **told)}")
    known = ask_to_find_errors(checked.cells(step, Mark.SLIP)) if told["count"] else None
    show_met(checked, step, named=known is None)
    show_work("hero", checked, [make_printed_work(checked, stage, known)], handle_written_click)
    show_lesson_run(setup, place)
    drawer("begin", lambda: drawers.show_error_origins(checked))
    drawer("own", lambda: drawers.show_own_exercise(setup))
    drawer("rounding", lambda: drawers.show_rounding(checked))
    drawer("onward", lambda: drawers.show_onward_run(checked))
    show_lesson_code(checked.trace, tuple(STAGES.values()))
