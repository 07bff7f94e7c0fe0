"""The workbench: a sentence in, every number of one attention layer out."""

import streamlit as st

from pages.shared import controls, editors, header, input_controls, panels, places, runs, state, step_panel, swaps
from pages.shared.words import say

state.open_link(runs.trace_of)
setup = state.current()
trace, material = runs.trace_of(setup), runs.material_of(setup)
head, query = places.looked_at(trace, setup)

with st.sidebar:
    input_controls.input_controls(setup, material)
    controls.mechanism_controls(trace, setup, material)

with st.container(gap="xsmall"):
    header.show(trace, setup)
    header.show_link_trouble()
    with st.container(horizontal=True, vertical_alignment="center"):
        panels.show_tiles(trace, material, head, query)
        swaps.show_swaps(setup, material)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {panels.fact_sentence(trace, head, query)}", width="content")
        panels.ramp_switch(trace, setup)
    panels.show_pictures(trace, setup, material, head, query)
    panels.show_origins(setup, material)
    step_panel.show_step(trace, setup, head, query)
with st.expander(say("editor.title"), icon=":material/edit:", key="editors"):
    editors.matrix_editors(trace, setup, material)
state.show_link()
