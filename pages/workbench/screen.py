"""What is looked at: tokens, maps and strip, and the opened step."""

import streamlit as st

from pages.panels import head_maps, step
from pages.session import fragments, setup_state
from pages.session.view import ScreenState
from pages.setup.setup import pinned_setup_of
from pages.workbench import change, compare, diagnosis


@fragments.page_part(lambda scene: (scene.setup, setup_state.setup_before()))
def show_run(scene: ScreenState) -> None:
    """The tokens, the maps, the strip; and the link to what is seen."""
    compared = pinned_setup_of(scene.setup) is not None
    # before all else: what is sent together is drawn together
    pictures = compare.make_compared_maps(scene) if compared else head_maps.make_head_pictures(scene)
    with st.container(gap="xxsmall"):  # all steps of a run are to stay on a projector's first screen
        head_maps.show_sentences(scene)
        head_maps.show_tiles(scene)
        if compared:
            compare.show_comparison(scene, pictures)
        else:
            head_maps.show_fact(scene)
            diagnosis.show_diagnosis(scene)
            change.show_last_change(scene)
            head_maps.show_head_pictures(scene, pictures)
    setup_state.write_setup_link()


@fragments.page_part(step.step_dependencies)
def show_opened_step(scene: ScreenState) -> None:
    """The opened step, as a product and as a table."""
    step.show_step_panel(scene)
    step.show_table(scene)
