"""The workbench: a sentence in, every number of one attention layer out."""

import streamlit as st

from pages.shared import (
    change_panel,
    controls,
    diagnosis_panel,
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
    table_panel,
)
from pages.shared.words import say


@st.fragment
def looking(drawn: state.Drawn) -> None:
    """What a click on a token, a step or a cell draws anew alone. Where such a click changed the run, or what stands
    outside shows the head that was looked at, all is drawn."""
    if state.drawn() != drawn:
        st.rerun()
    shown = scene.current()
    panels.show_sentences(shown)
    with st.container(horizontal=True, vertical_alignment="center"):
        panels.show_tiles(shown.trace, shown.material, shown.look)
        swaps.show_swaps(shown.setup, shown.material)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {panels.fact_sentence(shown.trace, shown.look)}", width="content")
        panels.ramp_switch(shown)
    diagnosis_panel.show_diagnosis(shown)
    change_panel.show_change(shown)
    panels.show_pictures(shown)
    panels.show_origins(shown.setup, shown.material)
    step_panel.show_step(shown)
    table_panel.show_table(shown)
    state.show_link()


state.open_link(runs.trace_of)
shown = scene.current()
with st.sidebar:
    input_controls.input_controls(shown.setup, shown.material)
    controls.mechanism_controls(shown.trace, shown.setup, shown.material)
    layer_controls.layer_controls(shown.setup, shown.material)
with st.container(gap="xsmall"):
    header.show(shown)
    header.show_link_trouble()
    looking(state.drawn())
drawer = st.expander(say("editor.title"), icon=":material/edit:", key=state.EDITORS, on_change="rerun")
if drawer.open:
    with drawer:
        editors.matrix_editors(shown)
