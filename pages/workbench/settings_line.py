"""Draws the second line of the workbench: heads, causal mask, scale, temperature, device, and the button More."""

from collections.abc import Callable

import streamlit as st

from pages.panels import model_controls
from pages.panels.setup_controls import show_refusal
from pages.session.fragments import page_part
from pages.session.labels import current_palette
from pages.session.side_panel import find_panel, row_key, show_panel
from pages.session.view import ScreenState
from pages.setup.resolve import config_of, resolve_run
from pages.site.controls import MORE, RESEARCH
from pages.site.words import say, typeset_matrix_names
from pages.workbench import layer_controls, mask_controls, mechanism_controls

# names of the controls in the second line
SETTINGS = ("heads", "causal", "scale_on", "temperature", "device", "layer", "model")


def settings_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the second line of the workbench: those of the line's controls."""
    run, resolved = screen.setup.run, resolve_run(screen.setup.run)
    return (
        layer_controls.head_dependencies(screen),
        repr(config_of(run).masks),
        run.scale,
        mechanism_controls.name_scale_switch(screen),
        run.temperature,
        run.device,
        st.session_state.get(row_key("device"), False),
        resolved.model,
        resolved.layer,
        run.recorded,
        find_panel(screen.setup),
        current_palette().share,
    )


@page_part(settings_dependencies, keeps_place=True)
def show_settings(screen: ScreenState) -> None:
    """Shows the second line; below it, the effect of the last change of the number of heads, and why a change was
    refused.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="settings"):
        draw_settings(screen, mask_controls.link_to_proof)
        mechanism_controls.show_device_choice(screen.setup)
        show_more_button(screen)
    draw_effects(screen)


@page_part(settings_dependencies)
def show_settings_of_scene(screen: ScreenState) -> None:
    """Shows the controls of the workbench's second line (heads, mask, scale and so on) beside a presented scene of a
    lecture.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="settings"):
        draw_settings(screen)
    draw_effects(screen)


def draw_settings(screen: ScreenState, link_causal: Callable[[], None] | None = None) -> None:
    """Draws the controls of the line: number of heads, or a model and its layer; causal mask, scale and temperature.

    link_causal: a function that draws a link beside the switch of the causal mask while that is on; None for no link.
    """
    setup = screen.setup
    resolved = resolve_run(setup.run)
    if resolved.layer is not None:
        model_controls.show_layer_choice(setup)
    if resolved.model is not None:
        model_controls.show_model_choice(setup)
    elif layer_controls.has_sizes(screen):
        layer_controls.show_head_count(screen)
    mask_controls.show_causal_switch(setup)
    if link_causal is not None and mask_controls.is_causal(setup):
        link_causal()
    mechanism_controls.show_scale_switch(screen)
    mechanism_controls.show_temperature_slider(setup)


def draw_effects(screen: ScreenState) -> None:
    """Draws the effect of the last change of the number of heads on the matrices, and why a change was refused."""
    effects = layer_controls.describe_size_effects(screen)
    if effects:
        st.caption(typeset_matrix_names(effects))
    for name in SETTINGS:
        show_refusal(name)


def show_more_button(screen: ScreenState) -> None:
    """Shows the button More, which opens or closes the panel with further controls."""
    is_open = find_panel(screen.setup) in (MORE, RESEARCH)

    def switch() -> None:
        show_panel(None if is_open else MORE)
        st.rerun()

    st.space("stretch")
    st.button(
        say("control.more_controls"),
        key="more",
        icon=":material/tune:",
        type="primary" if is_open else "secondary",
        on_click=switch,
    )
