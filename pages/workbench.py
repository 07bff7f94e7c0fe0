"""The workbench: a sentence in, every number of one attention layer out."""

import streamlit as st

from pages.shared import (
    controls,
    editors,
    film_strip,
    header,
    input_controls,
    layer_controls,
    looking,
    mask_controls,
    runs,
    state,
)

state.open_link(runs.trace_of)
with st.sidebar:
    input_controls.input_controls()
    mask_controls.mask_controls()
    controls.score_control()
    controls.scale_control()
    controls.temperature_control()
    controls.position_controls()
    controls.number_controls()
    layer_controls.sizes()
    layer_controls.wiring()
    layer_controls.built_heads()
with st.container(gap="xsmall"):
    header.header()
    looking.looking()
    editors.editors()
    film_strip.film_strip()
    looking.opened()
