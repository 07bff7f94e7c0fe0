"""Draws the page "workbench", which takes a sentence and shows every number of one attention layer."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.panels import flow_picture, model_controls
from pages.runs import cache
from pages.session import linked_setup, sought_control
from pages.session.fragments import draw_first
from pages.session.opened_drawers import bring_into_view
from pages.site.words import say
from pages.workbench import (
    colour_switch,
    film_strip,
    header,
    input_controls,
    layer_controls,
    mask_controls,
    matrix_editors,
    mechanism_controls,
    parameter_controls,
    screen,
)

PICTURE_AND_PANE = (0.76, 0.24)  # shares of the page's width: the picture, and the column of controls
PICTURE_AND_EDITORS = (0.6, 0.4)
MORE_DRAWER_KEY = "more"
PANE_HEIGHT_PX = 612  # in pixels: height of the column of controls, which scrolls so that the picture stays visible


def show_pane(pane: DeltaGenerator) -> None:
    """Shows the column of controls: the most used ones, an accordion with the others, and the matrix editors."""
    with pane:
        input_controls.show_input_controls()
        layer_controls.show_first_choices()
        model_controls.show_layer_choice()
        mask_controls.show_mask_controls()
        mechanism_controls.show_scale_control()
        mechanism_controls.show_temperature_control()
    label = say("control.more_controls")
    drawer = pane.expander(label, icon=":material/tune:", key=MORE_DRAWER_KEY, on_change="rerun")
    with drawer:
        bring_into_view(MORE_DRAWER_KEY, drawer.open)
        if drawer.open:  # a closed accordion computes no controls
            show_more()
    with pane:
        matrix_editors.show_editors()


def show_more() -> None:
    """Shows the controls that are used less often."""
    layer_controls.show_size_controls()
    mechanism_controls.show_score_control()
    parameter_controls.show_position_controls()
    parameter_controls.show_normaliser_control()
    parameter_controls.show_modifier_controls()
    input_controls.show_input_choice()
    layer_controls.show_wiring_control()
    layer_controls.show_built_heads_control()
    mechanism_controls.show_number_controls()
    colour_switch.show_colour_switch()


linked_setup.open_linked_setup(cache.check_computable, cache.trace_for)
sought_control.seek_linked()
if st.session_state["begins"]:
    draw_first(flow_picture.show_flow, flow_picture.show_look)
# The `with` blocks of containers are not nested here, because for each fragment Streamlit copies all containers whose
# `with` blocks are open where the fragment is called.
page = st.container(gap="xsmall")
with page:
    header.show_header()
widths = PICTURE_AND_EDITORS if matrix_editors.is_editing() else PICTURE_AND_PANE
picture_column, pane_column = page.columns(widths, gap="medium")
with picture_column.container(gap="xsmall"):
    screen.show_picture()
show_pane(pane_column.container(height=PANE_HEIGHT_PX, border=False, key="pane", gap="xsmall"))
with page:
    sought_control.bring_sought()
    matrix_editors.show_origins()
    film_strip.show_film_strip()
