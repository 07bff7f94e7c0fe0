"""What is looked at: tokens, maps, strip and the opened step. What a click on one of them draws anew alone."""

import streamlit as st

from pages.shared import change_panel, diagnosis_panel, panels, parts, state, step_panel, swaps, table_panel
from pages.shared.scene import Scene


@parts.part(lambda scene: (scene.setup, state.before()))
def looking(scene: Scene) -> None:
    """The pictures; where what stands outside shows the head that was looked at, all is drawn."""
    if st.session_state["whole"] and {*parts.outdated()} - {"looking"}:
        st.rerun()
    panels.show_sentences(scene)
    with st.container(horizontal=True, vertical_alignment="center"):
        panels.show_tiles(scene.trace, scene.material, scene.look)
        swaps.show_swaps(scene.setup, scene.material)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {panels.fact_sentence(scene.trace, scene.look)}", width="content")
        panels.ramp_switch(scene)
    diagnosis_panel.show_diagnosis(scene)
    change_panel.show_change(scene)
    panels.show_pictures(scene)
    panels.show_origins(scene.setup, scene.material)
    step_panel.show_step(scene)
    table_panel.show_table(scene)
    state.show_link()
