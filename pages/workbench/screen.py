"""What is looked at: tokens, maps and strip, and the opened step."""

import streamlit as st

from pages.panels import flow_picture, head_maps, step
from pages.session import fragments, setup_state
from pages.session.view import ScreenState
from pages.setup.setup import pinned_setup_of
from pages.workbench import change, compare, compared_maps, diagnosis, fact_line, tokens


@fragments.page_part(lambda screen: (screen.setup, setup_state.setup_before()))
def show_run(screen: ScreenState) -> None:
    """The tokens, the maps, the strip; and the link to what is seen."""
    is_comparison = pinned_setup_of(screen.setup) is not None
    # before all else: what is sent together is drawn together
    make_pictures = compared_maps.make_compared_maps if is_comparison else head_maps.make_head_pictures
    pictures = make_pictures(screen)
    with st.container(gap="xxsmall"):  # all steps of a run are to stay on a projector's first screen
        tokens.show_sentences(screen)
        tokens.show_tiles(screen)
        if is_comparison:
            compare.show_comparison(screen, pictures)
        else:
            fact_line.show_fact(screen)
            diagnosis.show_diagnosis(screen)
            change.show_last_change(screen)
            flow_picture.show_flow(screen)
            flow_picture.show_unfolded_sum(screen)
            head_maps.show_head_pictures(screen, pictures)
    setup_state.write_setup_link()


@fragments.page_part(step.step_dependencies)
def show_opened_step(screen: ScreenState) -> None:
    """The opened step, as a product and as a table."""
    step.show_step_panel(screen)
    step.show_table(screen)
