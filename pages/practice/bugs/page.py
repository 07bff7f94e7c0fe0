"""Spot the bug: a layer whose numbers are wrong in one line. Which line?"""

import streamlit as st

from pages.lessons.frame import draw_page_frame, show_lesson_run, show_question
from pages.panels.link_controls import pick_example
from pages.practice.bugs.broken_layer import run_broken_layer, show_broken_step, show_wrong_line
from pages.practice.bugs.bug_choice import choose_bug, guess_line, setup_for_bug, write_right_lines
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.site.words import say

with draw_page_frame("bugs") as place:
    show_question("bugs")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bug = choose_bug()
        example = pick_example("en_it", "zh_ta", zh="zh_ta").example
    setup = setup_for_bug(example, bug)
    broken = run_broken_layer(setup, bug)
    selection = selection_of(trace_for(setup), setup)  # the head and the word that tell most
    lines = write_right_lines(bug)
    code, picture = st.columns(2, gap="small")
    with code:
        known = guess_line(bug)
        st.markdown(say("lessons.bugs.padded" if bug.padded else "lessons.bugs.causal"))
        st.code("\n".join(lines), language="python", line_numbers=True)
    with picture:
        show_broken_step(broken, selection)
    if known:
        show_wrong_line(setup, bug, broken, selection)
    show_lesson_run(setup, place)
