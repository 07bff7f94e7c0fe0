"""Shows the page "bugs": the numbers of a layer with one wrong line, and the question which line is wrong."""

import streamlit as st

from attention_core.exercises.bugs import run_layer
from pages.lessons.frame import draw_page_frame, show_lesson_run, show_question
from pages.panels.link_controls import pick_example
from pages.practice.bugs.broken_layer import show_both_maps, show_broken_step, show_wrong_line
from pages.practice.bugs.code_lines import choose_bug, is_line_known, setup_for_bug, show_lines, show_verdict
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.site.words import say

CODE_AND_PICTURE = (11, 9)  # relative widths of code and picture, in which the longest line fits

with draw_page_frame("bugs") as place:
    show_question("bugs")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bug = choose_bug()
        example = pick_example("en_it", "zh_ta", zh="zh_ta").run.example
    setup = setup_for_bug(example, bug)
    trace = trace_for(setup)
    broken = trace.holding(run_layer(trace, bug.code))  # the run of the layer with the wrong line, on the same inputs
    selection = selection_of(trace, setup)  # the default head and query of the correct run
    code, picture = st.columns(CODE_AND_PICTURE, gap="medium")
    known = is_line_known(bug)
    with code:
        st.markdown(say("lessons.bugs.padded" if bug.padded else "lessons.bugs.causal"))
        show_lines(bug)
        show_verdict(bug)
        if known:
            show_wrong_line(bug, broken, selection)
    with picture.container(key="beside_code"):  # page.css keeps the picture visible while the page scrolls
        show_broken_step(broken, selection)
    if known:
        show_both_maps(setup, broken, selection)
    show_lesson_run(setup, place)
