"""The workbench: a sentence in, every number of one attention layer out."""

import streamlit as st

from pages.shared import (
    change_panel,
    controls,
    editors,
    header,
    input_controls,
    layer_controls,
    panels,
    runs,
    scene,
    state,
    step_panel,
    swaps,
)
from pages.shared.words import say

state.open_link(runs.trace_of)
shown = scene.current()
trace, setup, material = shown.trace, shown.setup, shown.material

with st.sidebar:
    input_controls.input_controls(setup, material)
    layer_controls.layer_controls(setup, material)
    controls.mechanism_controls(trace, setup, material)

with st.container(gap="xsmall"):
    header.show(shown)
    header.show_link_trouble()
    panels.show_sentences(shown)
    with st.container(horizontal=True, vertical_alignment="center"):
        panels.show_tiles(trace, material, shown.look)
        swaps.show_swaps(setup, material)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {panels.fact_sentence(trace, shown.look)}", width="content")
        panels.ramp_switch(trace, setup)
    change_panel.show_change(shown)
    panels.show_pictures(shown)
    panels.show_origins(setup, material)
    step_panel.show_step(shown)
with st.expander(say("editor.title"), icon=":material/edit:", key="editors"):
    editors.matrix_editors(shown)
state.show_link()
