"""Shows the controls for score, scale, temperature, precision and device."""

import streamlit as st

from attention_core.mechanism.scores import SCORES
from pages.panels.live_slider import TEMPERATURE_RANGE, RatioSlider, TypedNumber, show_ratio_slider
from pages.panels.setup_controls import HALF_WIDTH_PX, field_control, show_refusal, try_change
from pages.runs.devices import AVAILABLE_DEVICES
from pages.session.fragments import page_part
from pages.session.labels import current_palette, describe_gpu_obstacle
from pages.session.view import ScreenState
from pages.setup.resolve import config_of
from pages.setup.setup import DTYPES

SCALE_RANGE = (0.01, 10.0)  # range of the scale's slider, which includes 1/√d_k for every width that can be chosen
SCALE_STEP = 0.05  # step of the arrows at the number input of the scale


@page_part(lambda screen: config_of(screen.setup.run).score)
def show_score_control(screen: ScreenState) -> None:
    """Shows the choice of the score function."""
    field_control("score", config_of(screen.setup.run).score).show(st.selectbox, list(SCORES), filter_mode=None)


@page_part(lambda screen: (screen.setup.run.dtype, screen.setup.run.device))
def show_number_controls(screen: ScreenState) -> None:
    """Shows the choice of the precision and of the device."""
    setup = screen.setup
    with st.container(horizontal=True):
        control = field_control("dtype", setup.run.dtype)
        control.show(st.selectbox, DTYPES, filter_mode=None, width=HALF_WIDTH_PX)
        control, obstacle = field_control("device", setup.run.device), describe_gpu_obstacle()
        control.show(st.selectbox, AVAILABLE_DEVICES, filter_mode=None, width=HALF_WIDTH_PX, help=obstacle)


@page_part(lambda screen: (screen.setup.run.scale, current_palette().share))
def show_scale_control(screen: ScreenState) -> None:
    """Shows the choice of the scale of the scores: the score's default, no scale, or a number."""
    scale = screen.setup.run.scale

    def choose_scale(kind: str) -> None:
        try_change("scale", scale={"off": 1.0, "number": 0.5}.get(kind))

    kind = find_scale_kind(scale)
    control = field_control("scale", kind, choose_scale)
    control.draw(st.segmented_control, ["default", "off", "number"], required=True, width="stretch")
    if kind == "number":
        show_scale_slider(scale)
    show_refusal("scale")


def show_scale_slider(scale: float) -> None:
    """Shows the slider and the number input for the scale."""
    least, most = SCALE_RANGE
    if scale > 0:
        least, most = min(least, scale), max(most, scale)
    control = field_control("scale", scale, key="c_scale_number", label="control.scale_number")
    slider = RatioSlider(least, most, step="scaled_scores", parameter="factor")
    show_ratio_slider(control, slider, TypedNumber(SCALE_STEP))


def find_scale_kind(scale: float | None) -> str:
    """Returns the option of the scale's control to which a scale belongs: "default", "off" or "number"."""
    if scale is None:
        return "default"
    is_typed = st.session_state.get("c_scale") == "number"  # a typed 1 must not become "off", which hides the input
    return "off" if scale == 1.0 and not is_typed else "number"


@page_part(lambda screen: (screen.setup.run.temperature, current_palette().share))
def show_temperature_control(screen: ScreenState) -> None:
    """Shows the slider for the temperature; its range reaches from nearly one-hot to nearly uniform weights."""
    temperature = screen.setup.run.temperature
    least, most = TEMPERATURE_RANGE
    slider = RatioSlider(
        min(least, temperature),
        max(most, temperature),
        step="scaled_scores",
        parameter="temperature",
    )
    show_ratio_slider(field_control("temperature", temperature), slider)
    show_refusal("temperature")
