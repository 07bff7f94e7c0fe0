"""Spot the bug: a layer whose numbers are wrong in one line. Which line?"""

import streamlit as st

from pages.lessons.frame import frame, stands_for
from pages.panels.link_controls import pick_example
from pages.practice.bugs.broken_layer import (
    broken_run,
    choose_bug,
    code_of,
    guess_line,
    looked_at_in,
    setup_of,
    show_answer,
    show_broken_map,
    show_broken_step,
)
from pages.site.words import say

with frame("bugs") as place:
    st.markdown(f"#### {say('lessons.bugs.question')}\n{say('lessons.bugs.intro')}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bug = choose_bug()
        setup = setup_of(pick_example("en_it", "zh_ta", zh="zh_ta").example, bug)
    broken, look = broken_run(setup, bug), looked_at_in(setup)
    lines = code_of(bug)
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
    stands_for(setup, place)
