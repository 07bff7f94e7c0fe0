"""Draws the panel beside the picture: matrices, a file, the further controls, or the research variants."""

from collections.abc import Callable

import streamlit as st

from pages.session import setup_state
from pages.session.entered_values import when_entered
from pages.session.fragments import page_part
from pages.session.side_panel import find_panel, show_panel
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.site.controls import FILE, MATRICES, MORE, RESEARCH
from pages.site.words import say
from pages.workbench import (
    colour_switch,
    file_controls,
    input_controls,
    layer_controls,
    mask_controls,
    matrix_editors,
    mechanism_controls,
    parameter_controls,
)

Rows = tuple[Callable[[], None], ...]
# Panel -> {section of the panel: the rows in it, the most used first}.
SECTIONS: dict[str, dict[str, Rows]] = {
    MORE: {
        "input": (
            input_controls.show_cross_row,
            input_controls.show_batch_row,
            input_controls.show_cut_row,
        ),
        "how": (
            parameter_controls.show_position_row,
            mechanism_controls.show_score_row,
            mechanism_controls.show_scale_row,
            mask_controls.show_mask_row,
        ),
        "layer": (
            layer_controls.show_size_row,
            parameter_controls.show_norm_row,
            layer_controls.show_wiring_row,
            layer_controls.show_built_row,
        ),
        "numbers": (mechanism_controls.show_precision_row, colour_switch.show_colour_row),
    },
    RESEARCH: {
        "positions": (parameter_controls.show_rare_position_row,),
        "weights": (parameter_controls.show_normaliser_row,),
        "layer": (parameter_controls.show_modifier_row,),
        "masks": (mask_controls.show_rare_mask_row,),
    },
}


def show_side_panel() -> None:
    """Shows the panel that is open beside the picture."""
    panel = find_panel(setup_state.current_setup())
    show_panel_heading(panel)
    if panel == MATRICES:
        show_matrices()
        matrix_editors.show_editors()
    elif panel == FILE:
        show_file()
    else:
        for section, rows in SECTIONS[panel].items():
            if section == "input":
                show_input_heading()
            else:
                st.markdown(f"**{say(f'section_of_controls.{section}')}**")
            show_rows(rows)


@page_part(lambda screen: resolve_run(screen.setup.run).mode)
def show_input_heading(screen: ScreenState) -> None:
    """Shows the heading of the rows about the input, which exist only for sentences and for a matrix X."""
    if resolve_run(screen.setup.run).mode in ("sentence", "matrix"):
        st.markdown(f"**{say('section_of_controls.input')}**")


def show_rows(rows: Rows) -> None:
    """Shows the rows of a section."""
    with st.container(gap=None):
        for show_row in rows:
            show_row()


def show_panel_heading(panel: str) -> None:
    """Shows the name of the panel, or the choice between More and Research variants, and the button that closes it."""

    def close() -> None:
        show_panel(None)
        st.rerun()

    def choose(panel: str) -> None:
        show_panel(panel)
        st.rerun()

    key = f"c_panel_{panel}"  # a separate widget for each panel, because a widget keeps its value
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if panel in SECTIONS:
            st.segmented_control(
                say("panel.choice"),
                list(SECTIONS),
                default=panel,
                key=key,
                format_func=lambda name: say(f"panel.{name}"),
                required=True,
                label_visibility="collapsed",
                on_change=when_entered(key, choose),
            )
        else:
            st.markdown(f"**{say(f'panel.{panel}')}**", width="stretch")
        st.button(say("panel.close"), key="close_panel", icon=":material/close:", type="tertiary", on_click=close)


def matrices_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the given matrices: the run, and the version of the editors."""
    return (screen.setup.run, setup_state.editors_version())


@page_part(matrices_dependencies)
def show_matrices(screen: ScreenState) -> None:
    """Shows the given numbers as text: the sentence's vectors, a matrix X, or q, k and v."""
    input_controls.show_mode_choice(screen.setup)
    input_controls.show_given_matrices(screen)


def file_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the controls of a file: the run, the uploader and its files."""
    return (screen.setup.run, setup_state.editors_version(), st.session_state.get("uploads"))


@page_part(file_dependencies)
def show_file(screen: ScreenState) -> None:
    """Shows the uploader and the controls of the uploaded file."""
    file_controls.show_file_controls(screen.setup)
