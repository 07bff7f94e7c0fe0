"""Draws the page "workbench", which takes a sentence and shows every number of one attention layer."""

import streamlit as st

from pages.panels import flow_picture
from pages.runs import cache
from pages.session import linked_setup, setup_state, sought_control
from pages.session.fragments import draw_first
from pages.session.side_panel import find_panel
from pages.site.controls import FILE, MATRICES
from pages.workbench import film_strip, header, kept_file, matrix_editors, screen, settings_line, side, ways_in

# Relative widths of the picture and of the panel beside it. Without a panel, page.css hides the second column.
# The column of the panel always exists, because the picture would be drawn anew if it moved into columns.
PICTURE_ALONE = (0.98, 0.02)
PICTURE_AND_PANEL = (0.68, 0.32)
PICTURE_AND_MATRICES = (0.58, 0.42)


def draw_workbench() -> None:
    """Draws the page of a Setup whose numbers are there."""
    if st.session_state["begins"]:
        draw_first(flow_picture.show_flow, flow_picture.show_look)
    # The `with` blocks of containers are not nested here.
    # For each fragment, Streamlit would copy all containers whose blocks are open where the fragment is called.
    page = st.container(gap="xsmall", key="workbench")
    with page:
        header.show_header()
        ways_in.show_first_line()
        settings_line.show_settings()
    panel = find_panel(setup_state.current_setup())
    widths = PICTURE_ALONE if panel is None else PICTURE_AND_PANEL
    if panel in (MATRICES, FILE):
        widths = PICTURE_AND_MATRICES
    picture_column, side_column = page.columns(widths, gap="medium")
    with picture_column.container(gap="xsmall"):
        screen.show_picture()
    if panel is not None:
        with side_column.container(gap="xsmall", key="side"):
            side.show_side_panel()
    with page:
        sought_control.bring_sought()
        matrix_editors.show_origins()
        film_strip.show_film_strip()
        kept_file.keep_file()


linked_setup.open_linked_setup(cache.check_computable, cache.trace_for)
sought_control.open_linked_panel()
sought_control.seek_linked()
if setup_state.workbench().is_empty:
    header.show_empty()
else:
    draw_workbench()
