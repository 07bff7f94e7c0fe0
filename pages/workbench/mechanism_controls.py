"""The controls of the workbench: language, example, and the mechanism."""

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.mechanism.scores import SCORES
from pages.panels.setup_controls import (
    HALF_WIDTH_PX,
    mirror_field,
    show_field_pills,
    show_field_selectbox,
    show_refusal,
    try_change,
)
from pages.runs.compute import AVAILABLE_DEVICES
from pages.session import setup_state
from pages.session.fragments import page_part, redraw
from pages.session.view import ScreenState
from pages.setup.setup import DTYPES, Setup, config_of, positions_of, to_positions_field, without_view
from pages.site.words import say

POSITION_CHOICES = ("sinusoidal", "rope", "alibi")
ROPE_CHOICES = ("rope", "rope_half")  # its two styles, one of which may be chosen


def example_picker(setup: Setup) -> None:
    """One click to any example, as it ships."""

    def chosen() -> None:
        if st.session_state["c_example"] in EXAMPLES:
            setup_state.open_example(st.session_state["c_example"])
            redraw()

    changed = without_view(setup) != Setup(example=setup.example)

    def named(name: str) -> str:
        if name != setup.example or not changed:
            return say(f"example.{name}")
        return say("examples.file") if setup.file else say("examples.changed", name=say(f"example.{name}"))

    st.session_state["c_example"] = setup.example
    st.selectbox(
        say("control.example"),
        list(EXAMPLES),
        format_func=named,
        key="c_example",
        on_change=chosen,
        filter_mode=None,
        label_visibility="collapsed",
        width=216,
    )


@page_part(lambda scene: config_of(scene.setup).score)
def show_score_control(scene: ScreenState) -> None:
    """What a query and a key are compared by."""
    show_field_selectbox("score", list(SCORES), config_of(scene.setup).score)


@page_part(lambda scene: (scene.setup.dtype, scene.setup.device))
def show_number_controls(scene: ScreenState) -> None:
    """Precision and device."""
    with st.container(horizontal=True):
        show_field_selectbox("dtype", list(DTYPES), scene.setup.dtype, HALF_WIDTH_PX)
        show_field_selectbox("device", list(AVAILABLE_DEVICES), scene.setup.device, HALF_WIDTH_PX)


@page_part(lambda scene: positions_of(scene.setup))
def show_position_controls(scene: ScreenState) -> None:
    """Which ways to tell positions; for RoPE, which numbers turn together."""
    setup, positions = scene.setup, positions_of(scene.setup)
    style = next((name for name in positions if name in ROPE_CHOICES), "rope")

    def chosen() -> None:
        names = st.session_state["c_positions"]
        chosen_ones = tuple(style if name == "rope" else name for name in names)
        wiring = tuple(name for name in setup_state.current_setup().wiring if name != "bare" or not chosen_ones)
        try_change("positions", positions=to_positions_field(setup, chosen_ones), wiring=wiring)

    def paired() -> None:
        other = st.session_state["c_rope"]
        try_change("positions", positions=to_positions_field(setup, turned_to(other)))

    def turned_to(other: str) -> tuple[str, ...]:
        return tuple(other if name in ROPE_CHOICES else name for name in positions)

    values = ["rope" if name in ROPE_CHOICES else name for name in positions]
    show_field_pills("positions", POSITION_CHOICES, values, chosen)
    if style in positions:
        mirror_field("c_rope", "positions", style)
        st.segmented_control(
            say("control.rope"),
            ROPE_CHOICES,
            format_func=lambda name: say(f"rope.{name}"),
            key="c_rope",
            on_change=paired,
            required=True,
            help=say("help.rope"),
            width="stretch",
        )
    show_refusal("positions")


@page_part(lambda scene: scene.setup.scale)
def show_scale_control(scene: ScreenState) -> None:
    """Scale: as the score has it, off, or a number."""
    setup = scene.setup

    def switched() -> None:
        wanted = {"off": 1.0, "number": 0.5}.get(st.session_state["c_scale"])
        try_change("scale", scale=wanted)

    def typed() -> None:
        try_change("scale", scale=st.session_state["c_scale_number"])

    typing = st.session_state.get("c_scale") == "number"  # 1 as a number is no reason to take its box away
    kind = "default" if setup.scale is None else "off" if setup.scale == 1.0 and not typing else "number"
    mirror_field("c_scale", "scale", kind)
    st.segmented_control(
        say("control.scale"),
        ["default", "off", "number"],
        format_func=lambda name: say(f"scale.{name}"),
        key="c_scale",
        on_change=switched,
        required=True,
        width="stretch",
    )
    if kind == "number":
        mirror_field("c_scale_number", "scale", setup.scale)
        st.number_input(say("control.scale_number"), key="c_scale_number", on_change=typed, format="%.4g", step=0.05)
    show_refusal("scale")


@page_part(lambda scene: scene.setup.temperature)
def show_temperature_control(scene: ScreenState) -> None:
    """One slider from almost one-hot to almost even."""
    setup = scene.setup

    def moved() -> None:
        try_change("temperature", temperature=st.session_state["c_temperature"])

    options = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
    mirror_field("c_temperature", "temperature", setup.temperature)
    st.select_slider(
        say("control.temperature"),
        sorted({*options, setup.temperature}),
        key="c_temperature",
        on_change=moved,
        format_func=lambda value: f"{value:g}",
    )
    show_refusal("temperature")
