"""The lesson on query, key and value, drawer "change": what if one matrix is changed?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.comparison.differences import find_moves
from attention_core.explanation.facts import row_fact, transpose_gap
from attention_core.record.number_text import format_exact
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_step_picture
from pages.lessons.sentences import join_with_commas, show_sentence
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import selection_of, spoken_step_name
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

MATRIX_CHANGES = {"swap": {"wiring": ("swapped",)}, "share": {"wiring": ("tied",)}, "value": {"w_v": "identity~"}}


def show_matrix_change(setup: Setup) -> None:
    """Shows W_q and W_k exchanged, one matrix in the place of all three, or another W_v alone."""
    change = choose_option("change", tuple(MATRIX_CHANGES))
    changed = replace(setup, **MATRIX_CHANGES[change])
    before = trace_for(setup)
    now = trace_for(changed)
    selection = selection_of(before, setup)
    if change == "swap":  # the word that was asked is the one that asks now
        asked = row_fact(before, selection.head, selection.query).keys[0]
        selection = replace(selection, query=asked)
    st.markdown(f"**{fact_sentence(now, selection)}**")
    mirrored = before if change == "swap" else now
    show_sentence(
        f"lessons.qkv.changed_{change}",
        gap=format_exact(transpose_gap(now, mirrored)),
        one=inputs_of(setup).matrices["w_q"].size,
        moved=escape_markdown(list_moved_steps(now, before)),
    )
    step = "output" if change == "value" else "scores"
    with st.container(horizontal=True):
        for name, trace in (("before", before), ("now", now)):
            with st.container(width="content"):
                st.caption(say(f"lessons.qkv.{name}"))
                show_step_picture(f"change_{name}", trace, step, selection)
    link_to_workbench(changed, "change")


def list_moved_steps(now: Trace, before: Trace) -> str:
    """Names the computed steps whose numbers moved."""
    computed = now.computed()
    moved = [spoken_step_name(step) for step in find_moves(now, before) if step in computed]
    return join_with_commas(moved)
