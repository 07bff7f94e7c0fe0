"""What is looked at: tokens, maps and strip, and the opened step."""

import streamlit as st

from pages.shared import change_panel, compare_panel, diagnosis_panel, panels, parts, state, step_panel, table_panel
from pages.shared.scene import Scene
from pages.shared.setup import pinned_of


@parts.part(lambda scene: (scene.setup, state.before()))
def looking(scene: Scene) -> None:
    """The tokens, the maps, the strip; and the link to what is seen."""
    compared = pinned_of(scene.setup) is not None
    # before all else: what is sent together is drawn together
    pictures = compare_panel.pictures(scene) if compared else panels.head_pictures(scene)
    with st.container(gap="xxsmall"):  # all steps of a run are to stay on a projector's first screen
        panels.show_sentences(scene)
        panels.show_tiles(scene)
        if compared:
            compare_panel.show_comparison(scene, pictures)
        else:
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
