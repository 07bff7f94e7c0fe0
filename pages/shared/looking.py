"""What is looked at: tokens, maps and strip, and the opened step."""

import streamlit as st

from pages.shared import change_panel, diagnosis_panel, panels, parts, state, step_panel, swaps, table_panel
from pages.shared.scene import Scene


@parts.part(lambda scene: (scene.setup, state.before()))
def looking(scene: Scene) -> None:
    """The tokens, the maps, the strip; and the link to what is seen."""
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
    state.show_link()


@parts.part(step_panel.shows)
def opened(scene: Scene) -> None:
    """The opened step, as a product and as a table."""
    step_panel.show_step(scene)
    table_panel.show_table(scene)
