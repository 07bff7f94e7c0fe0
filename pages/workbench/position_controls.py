"""Controls for the position encodings and the parameters that each declares."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attention_core.mechanism.positions import POSITIONS
from pages.panels.setup_controls import mirror_field, show_field_pills, show_refusal, try_change
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.choice_text import write_position
from pages.setup.resolve import config_of, positions_of, to_positions_field
from pages.setup.setup import Setup
from pages.site.words import say
from pages.workbench.parameter_controls import show_parameters

PositionParameters = Mapping[str, object]  # the parameters of one position encoding, by name
STYLES = {"rope": "interleaved", "rope_half": "half"}  # the style of RoPE, by its name in a link


@page_part(lambda screen: positions_of(screen.setup.run))
def show_position_controls(screen: ScreenState) -> None:
    """Shows the choice of position encodings and their parameters; for RoPE, which numbers are rotated in pairs."""
    setup = screen.setup
    positions = dict(config_of(setup.run).positions)

    def choose_positions() -> None:
        names = [name for name in st.session_state["c_positions"] if name in POSITIONS]
        wiring = setup_state.current_setup().run.wiring
        if names:
            wiring = tuple(name for name in wiring if name != "bare")
        texts = [write_position(name, positions[name]) if name in positions else name for name in names]
        try_change("positions", positions=to_positions_field(setup.run, tuple(texts)), wiring=wiring)

    show_field_pills("positions", list(POSITIONS), list(positions), choose_positions, say("help.positions"))
    for name, params in positions.items():
        take = partial(take_parameters, setup, positions, name)
        declared = POSITIONS[name].parameters
        if name == "rope":  # in a link, the style is part of RoPE's name
            show_rope_style(params, take)
            declared = [parameter for parameter in declared if parameter.name != "style"]
        show_parameters(name, params, declared, take)
    show_refusal("positions")


def take_parameters(
    setup: Setup,
    positions: Mapping[str, PositionParameters],
    name: str,
    control: str,
    params: PositionParameters,
) -> None:
    """Sets the parameters of one position encoding."""
    changed = {**positions, name: params}
    texts = tuple(write_position(*position) for position in changed.items())
    try_change(control, positions=to_positions_field(setup.run, texts))


def show_rope_style(params: PositionParameters, take) -> None:
    """Shows the choice of which numbers RoPE rotates in pairs: neighbours, or numbers of the two halves."""

    def choose_rope_style() -> None:
        take("positions", {**params, "style": STYLES[st.session_state["c_rope"]]})

    style = next(name for name, style in STYLES.items() if style == params["style"])
    mirror_field("c_rope", "positions", style)
    st.segmented_control(
        say("control.rope"),
        list(STYLES),
        format_func=lambda name: say(f"rope.{name}"),
        key="c_rope",
        on_change=choose_rope_style,
        required=True,
        help=say("help.rope"),
        width="stretch",
    )
