"""Can you trust a printed example? Its numbers beside the right ones, each marked from the numbers before it."""

import streamlit as st

from attention_core.exercises.marking import Mark
from attention_core.exercises.worked_example import STAGES
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.printed import drawers
from pages.lessons.prompts import find
from pages.lessons.worked_example import close_with, counts, printed_work, show_work, tell
from pages.panels.link_controls import choose
from pages.panels.slips import show_met
from pages.site.words import say

with lesson("printed") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stage = choose("stage", tuple(STAGES), "scores")
        setup = drawers.given(stage)
        checked = drawers.printed(setup, stage)
    step = STAGES[stage]
    close_with("hero", step)
    told = {"printed": say(f"lessons.printed.control.{stage}"), **counts(checked.marked[step])}
    st.markdown(f"##### {say('lessons.printed.fact' if told['count'] else 'lessons.printed.fact_none', **told)}")
    known = find(checked.cells(step, Mark.SLIP)) if told["count"] else None
    show_met(checked, step, named=known is None)
    show_work("hero", checked, [printed_work(checked, stage, known)], tell)
    stands_for(setup, place)
    drawer("begin", lambda: drawers.begin(checked))
    drawer("own", lambda: drawers.own(setup))
    drawer("rounding", lambda: drawers.rounding(checked))
    drawer("onward", lambda: drawers.onward(checked))
    code(checked.trace, tuple(STAGES.values()))
