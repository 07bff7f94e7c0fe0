"""Shows the controls for score, scale, temperature, precision and device."""

import streamlit as st

from attention_core.mechanism.scores import SCORES
from pages.panels.live_slider import TEMPERATURE_RANGE, RatioSlider, TypedNumber, show_ratio_slider
from pages.panels.setup_controls import field_control, show_refusal, try_change
from pages.runs.devices import AVAILABLE_DEVICES
from pages.session.fragments import page_part
from pages.session.labels import current_palette, describe_gpu_obstacle
from pages.session.side_panel import row_key
from pages.session.view import ScreenState
from pages.setup.resolve import config_of
from pages.setup.setup import DTYPES, Setup
from pages.site.words import say
from pages.workbench.control_rows import show_row

NO_SCALE = 1.0  # the scale that leaves the scores unchanged
SCALED_DOT = next(iter(SCORES))  # name of the default score function
TEMPERATURE_WIDTH_PX = 210  # width in pixels of label, slider and value on one line
SCALE_RANGE = (0.01, 10.0)  # range of the scale's slider, which includes 1/√d_k for every width that can be chosen
SCALE_STEP = 0.05  # step of the arrows at the number input of the scale


# ---- on the second line ----------------------------------------------------------------------------------------------
def show_scale_switch(screen: ScreenState) -> None:
    """Shows the switch that scales the scores; its label says if the switch has no effect."""
    scale = screen.setup.run.scale

    def switch_scale(is_on: bool) -> None:
        try_change("scale_on", scale=None if is_on else NO_SCALE)

    label = f"control.{name_scale_switch(screen)}"
    field_control("scale_on", scale != NO_SCALE, switch_scale, label=label).draw(st.toggle)


def name_scale_switch(screen: ScreenState) -> str:
    """Returns the text key of the switch for the scale.

    It is "scale_on" or, if the switch changes nothing, "scale_of_one" (the vectors have width 1) or "scale_of_none"
    (the score has no scale).
    """
    default_scale = SCORES[config_of(screen.setup.run).score].default_scale
    if screen.setup.run.scale not in (None, NO_SCALE):
        return "scale_on"
    if default_scale is None:
        return "scale_of_none"
    return "scale_of_one" if screen.trace.sizes().get("d_k") == 1 else "scale_on"


def show_temperature_slider(setup: Setup) -> None:
    """Shows the slider for the temperature, which ranges from nearly one-hot to nearly uniform weights."""
    temperature = setup.run.temperature
    least, most = TEMPERATURE_RANGE
    slider = RatioSlider(
        min(least, temperature),
        max(most, temperature),
        step="scaled_scores",
        parameter="temperature",
    )
    show_ratio_slider(field_control("temperature", temperature), slider, line_width=TEMPERATURE_WIDTH_PX)


def show_device_choice(setup: Setup) -> None:
    """Shows the device that computes the run; a click offers the other devices, or says why there is no GPU."""
    obstacle = describe_gpu_obstacle()
    device = say(f"device.{setup.run.device}")
    label = say("control.without_gpu", device=device) if obstacle else device
    opened = st.popover(label, icon=":material/memory:", key=row_key("device"), on_change="rerun")
    if not opened.open:
        return
    with opened:
        control = field_control("device", setup.run.device)
        control.show(st.selectbox, AVAILABLE_DEVICES, filter_mode=None)
        if obstacle:
            st.caption(obstacle)


# ---- rows of the panels ----------------------------------------------------------------------------------------------
@page_part(lambda screen: config_of(screen.setup.run).score)
def show_score_row(screen: ScreenState) -> None:
    """Shows the row with the choice of the score function."""
    score = config_of(screen.setup.run).score
    control = field_control("score", score)
    show_row(
        "score",
        say(f"score.{score}"),
        score != SCALED_DOT,
        lambda: control.show(st.selectbox, list(SCORES), filter_mode=None),
    )


@page_part(lambda screen: screen.setup.run.dtype)
def show_precision_row(screen: ScreenState) -> None:
    """Shows the row with the choice of the precision."""
    dtype = screen.setup.run.dtype
    control = field_control("dtype", dtype)
    show_row(
        "dtype",
        say(f"dtype.{dtype}"),
        dtype != DTYPES[0],
        lambda: control.show(st.selectbox, DTYPES, filter_mode=None),
    )


@page_part(lambda screen: (screen.setup.run.scale, current_palette().share))
def show_scale_row(screen: ScreenState) -> None:
    """Shows the row with the choice of the scale of the scores: the score's default, no scale, or a number."""
    scale = screen.setup.run.scale

    def choose_scale(kind: str) -> None:
        try_change("scale", scale={"off": NO_SCALE, "number": 0.5}.get(kind))

    def show_choice() -> None:
        kind = find_scale_kind(scale)
        control = field_control("scale", kind, choose_scale)
        offered = ["default", "off", "number"]
        control.draw(st.segmented_control, offered, required=True, width="stretch", help=say("help.scale"))
        if kind == "number":
            show_scale_slider(scale)
        show_refusal("scale")

    value = say("scale.default") if scale is None else f"{scale:g}"
    show_row("scale", value, scale is not None, show_choice)


def show_scale_slider(scale: float) -> None:
    """Shows the slider and the number input for the scale."""
    least, most = SCALE_RANGE
    if scale > 0:
        least, most = min(least, scale), max(most, scale)
    control = field_control("scale", scale, key="c_scale_number", label="control.scale_number")
    slider = RatioSlider(least, most, step="scaled_scores", parameter="factor")
    show_ratio_slider(control, slider, TypedNumber(SCALE_STEP))


def find_scale_kind(scale: float | None) -> str:
    """Returns the option of the scale's control for a scale: "default", "off" or "number"."""
    if scale is None:
        return "default"
    # whether the visitor typed the scale: then 1 does not become "off", which would hide the input
    is_typed = st.session_state.get("c_scale") == "number"
    return "off" if scale == NO_SCALE and not is_typed else "number"
