"""The workbench: a sentence in, every number of one attention layer out."""

import streamlit as st

from pages.runs import cache
from pages.session import linked_setup
from pages.workbench import (
    film_strip,
    header,
    input_controls,
    layer_controls,
    mask_controls,
    matrix_editors,
    mechanism_controls,
    screen,
)

linked_setup.open_linked_setup(cache.check_computable, cache.trace_for)
with st.sidebar:
    input_controls.show_input_controls()
    mask_controls.show_mask_controls()
    mechanism_controls.show_score_control()
    mechanism_controls.show_scale_control()
    mechanism_controls.show_temperature_control()
    mechanism_controls.show_position_controls()
    mechanism_controls.show_number_controls()
    layer_controls.show_size_controls()
    layer_controls.show_wiring_control()
    layer_controls.show_built_heads_control()
with st.container(gap="xsmall"):
    header.show_header()
    screen.show_run()
    matrix_editors.show_editors()
    film_strip.show_film_strip()
    screen.show_opened_step()
