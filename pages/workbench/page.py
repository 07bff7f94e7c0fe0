"""The workbench: a sentence in, every number of one attention layer out."""

import streamlit as st

from pages.runs import cache
from pages.session import setup_state
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

setup_state.open_link(cache.trace_of)
with st.sidebar:
    input_controls.input_controls()
    mask_controls.mask_controls()
    mechanism_controls.score_control()
    mechanism_controls.scale_control()
    mechanism_controls.temperature_control()
    mechanism_controls.position_controls()
    mechanism_controls.number_controls()
    layer_controls.sizes()
    layer_controls.wiring()
    layer_controls.built_heads()
with st.container(gap="xsmall"):
    header.header()
    screen.looking()
    matrix_editors.editors()
    film_strip.film_strip()
    screen.opened()
