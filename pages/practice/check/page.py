"""Check your work: an exercise by hand, each number judged twice, and the mistake named."""

import streamlit as st

from attention_core.exercises.worked_example import stage_formula, stages_of
from pages.lessons.frame import code, frame, stands_for
from pages.lessons.worked_example import close_with, counts, is_done, show_exercise, stage_word, work
from pages.panels.answers import answer_box, answer_of
from pages.panels.link_controls import choose
from pages.panels.slips import show_met, show_slips
from pages.practice.check.exercise import begin_anew, chosen_exercise, start_texts
from pages.practice.check.paper import show_printing
from pages.runs.cache import checked_of, slips_of, trace_of
from pages.session.labels import palette, place_name, step_word
from pages.session.reveal import revealed
from pages.site.words import say

with frame("check") as place:
    st.markdown(f"#### {say('lessons.check.question')}\n{say('lessons.check.intro')}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind, setup = chosen_exercise()
        trace = trace_of(setup)
        show_printing(kind, trace, setup)
    begin_anew(setup, trace)
    if kind == "printed":
        st.markdown(say("lessons.check.from_print"))
    starts, stages = start_texts(kind, trace), stages_of(trace)
    texts = {step: answer_of(trace, step, start) for step, start in starts.items()}
    checked = checked_of(setup, texts, stages)
    found = slips_of(setup, texts, stages)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = {step: stage_word(checked, step) for step in stages}
        step = choose("stage", tuple(stages), words=words.__getitem__)
        heads = [*map(str, range(trace.sizes()["H"]))]
        per_head = "H" in trace.step(step).dims and len(heads) > 1
        head = choose("head", heads, words=lambda at: place_name(trace, "H", int(at))) if per_head else "0"
    close_with("work", setup, step, head)
    done = is_done(checked, step)
    written = "lessons.check.own_printed" if kind == "printed" else "lessons.check.own"
    titles = say(written, step=step_word(step)), say("lessons.check.right")
    parts = work(checked, step, step_word, *titles, hidden=not (done or revealed()), head=int(head))
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            st.latex(stage_formula(trace, step, palette().families()))
            answer_box(trace, step, starts[step], int(head))
        show_exercise("work", checked, [parts], asked=revealed())
    told = counts(checked.marked[step])
    st.markdown(say("lessons.check.done" if done else "lessons.check.still", **told))
    show_met(checked, step)
    show_slips(checked, found)
    stands_for(setup, place)
    code(trace, tuple(stages))
