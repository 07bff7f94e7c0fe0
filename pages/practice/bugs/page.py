"""Spot the bug: a layer whose numbers are wrong in one line. Which line?"""

import streamlit as st

from pages.lessons.frame import draw_page_frame, show_lesson_run
from pages.panels.link_controls import pick_example
from pages.practice.bugs.broken_layer import (
    choose_bug,
    guess_line,
    run_broken_layer,
    selection_for_bug,
    setup_for_bug,
    show_answer,
    show_broken_map,
    show_broken_step,
    write_right_lines,
)
from pages.site.words import say

with draw_page_frame("bugs") as place:
    st.markdown(f"#### {say('lessons.bugs.question')}\n{say('lessons.bugs.intro')}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bug = choose_bug()
        setup = setup_for_bug(pick_example("en_it", "zh_ta", zh="zh_ta").example, bug)
    broken, look = run_broken_layer(setup, bug), selection_for_bug(setup)
    lines = write_right_lines(bug)
    known = guess_line(bug)
    code, picture = st.columns([7, 5], gap="small")
    with code:
        st.markdown(say("lessons.bugs.padded" if bug.padded else "lessons.bugs.causal"))
        st.code("\n".join(lines), language="python", line_numbers=True)
    with picture:
        show_broken_map(broken, look)
    if known:
        show_answer(setup, bug, broken, look)
    show_broken_step(broken, look)
    show_lesson_run(setup, place)
