"""What is looked at: tokens, maps and strip, and the opened step."""

import streamlit as st

from pages.shared import change_panel, diagnosis_panel, panels, parts, state, step_panel, table_panel
from pages.shared.scene import Scene


@parts.part(lambda scene: (scene.setup, state.before()))
def looking(scene: Scene) -> None:
    """The tokens, the maps, the strip; and the link to what is seen."""
    pictures = panels.head_pictures(scene)  # before all else: what is sent together is drawn together
    with st.container(gap="xxsmall"):  # all steps of a run are to stay on a projector's first screen
        panels.show_sentences(scene)
        panels.show_tiles(scene)
        panels.show_fact(scene)
        diagnosis_panel.show_diagnosis(scene)
        change_panel.show_change(scene)
        panels.show_pictures(scene, pictures)
    state.show_link()


@parts.part(step_panel.shows)
def opened(scene: Scene) -> None:
    """The opened step, as a product and as a table."""
    step_panel.show_step(scene)
    table_panel.show_table(scene)
