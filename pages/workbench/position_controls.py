"""Controls for the position encodings and the parameters that each declares."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core.mechanism.positions import POSITIONS
from pages.panels.setup_controls import field_control, show_refusal, try_change
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

    def choose_positions(chosen: Sequence[str]) -> None:
        names = [name for name in chosen if name in POSITIONS]
        wiring = setup_state.current_setup().run.wiring
        if names:
            wiring = tuple(name for name in wiring if name != "bare")
        texts = [write_position(name, positions[name]) if name in positions else name for name in names]
        try_change("positions", positions=to_positions_field(setup.run, tuple(texts)), wiring=wiring)

    control = field_control("positions", list(positions), choose_positions)
    control.draw(st.pills, list(POSITIONS), selection_mode="multi", help=say("help.positions"))
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
    control = field_control(
        "positions",
        next(name for name, style in STYLES.items() if style == params["style"]),
        lambda name: take("positions", {**params, "style": STYLES[name]}),
        key="c_rope",
        label="control.rope",
        option_text=lambda name: say(f"rope.{name}"),
    )
    control.draw(st.segmented_control, list(STYLES), required=True, help=say("help.rope"), width="stretch")
