"""Shows the controls of a layer's positions, modifiers and normaliser, and of the parameters of each of these."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import Parameter
from attention_core.mechanism.positions import POSITIONS
from pages.panels.setup_controls import field_control, show_refusal, try_change
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.choice_text import read_choice, write_choice, write_position
from pages.setup.resolve import config_of, modifiers_of, positions_of, to_modifiers_field, to_positions_field
from pages.setup.setup import Setup
from pages.site.words import say

Parameters = Mapping[str, object]  # name -> value of the parameters of one position encoding, modifier or normaliser
TakeParameters = Callable[[str, dict[str, object]], None]  # called with a control's name and all parameters
STYLES = {"rope": "interleaved", "rope_half": "half"}  # name of RoPE in a link -> which components it rotates as a pair


# ---- positions -------------------------------------------------------------------------------------------------------
@page_part(lambda screen: positions_of(screen.setup.run))
def show_position_controls(screen: ScreenState) -> None:
    """Shows the choice of position encodings and their parameters; for RoPE also which components form a pair."""
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
        take = partial(take_position, setup, positions, name)
        declared = POSITIONS[name].parameters
        if name == "rope":  # in a link, the style is part of RoPE's name
            show_rope_style(params, take)
            declared = [parameter for parameter in declared if parameter.name != "style"]
        show_parameters(name, params, declared, take)
    show_refusal("positions")


def take_position(
    setup: Setup,
    positions: Mapping[str, Parameters],
    name: str,
    control: str,
    params: Parameters,
) -> None:
    """Stores changed parameters of one position encoding in the Setup, and keeps the other encodings.

    positions: all chosen encodings. control: the name of the control that was used, which shows a refusal.
    """
    changed = {**positions, name: params}
    texts = tuple(write_position(*position) for position in changed.items())
    try_change(control, positions=to_positions_field(setup.run, texts))


def show_rope_style(params: Parameters, take: TakeParameters) -> None:
    """Shows the choice of which components RoPE rotates as a pair: neighbours, or one from each half.

    take: a function that is called with the control's name and the changed parameters.
    """
    control = field_control(
        "positions",
        next(name for name, style in STYLES.items() if style == params["style"]),
        lambda name: take("positions", {**params, "style": STYLES[name]}),
        key="c_rope",
        label="control.rope",
        option_text=lambda name: say(f"rope.{name}"),
    )
    control.draw(st.segmented_control, list(STYLES), required=True, help=say("help.rope"), width="stretch")


# ---- modifiers -------------------------------------------------------------------------------------------------------
@page_part(lambda screen: modifiers_of(screen.setup.run))
def show_modifier_controls(screen: ScreenState) -> None:
    """Shows the choice of modifiers, and the controls of each modifier's parameters."""
    modifiers = dict(config_of(screen.setup.run).modifiers)

    def choose_modifiers(chosen: Sequence[str]) -> None:
        names = [name for name in chosen if name in MODIFIERS]
        started = dict(read_choice(name, MODIFIERS) for name in names)
        take_modifiers("modifiers", {name: modifiers.get(name, params) for name, params in started.items()})

    control = field_control("modifiers", list(modifiers), choose_modifiers)
    control.show(st.pills, list(MODIFIERS), selection_mode="multi", help=say("help.modifiers"))
    for name, params in modifiers.items():
        show_parameters(name, params, MODIFIERS[name].parameters, partial(take_modifier, modifiers, name))


def take_modifier(modifiers: Mapping[str, Parameters], name: str, control: str, params: Parameters) -> None:
    """Stores changed parameters of one modifier in the Setup, and keeps the other modifiers.

    modifiers: {name: parameters} of all chosen modifiers. name: the modifier to change. control: the name of the
    control that was used, which shows a refusal.
    """
    take_modifiers(control, {**modifiers, name: params})


def take_modifiers(control: str, modifiers: Mapping[str, Parameters]) -> None:
    """Replaces all modifiers of the Setup.

    control: the name of the control that was used, which shows a refusal.
    """
    setup = setup_state.current_setup()
    try_change(control, modifiers=to_modifiers_field(setup.run, write_modifiers(modifiers)))


def write_modifiers(modifiers: Mapping[str, Parameters]) -> tuple[str, ...]:
    """Returns the text of each modifier, for the field `modifiers` of a Setup."""
    return tuple(write_choice(name, params, MODIFIERS) for name, params in modifiers.items())


# ---- the normaliser --------------------------------------------------------------------------------------------------
@page_part(lambda screen: screen.setup.run.normaliser)
def show_normaliser_control(screen: ScreenState) -> None:
    """Shows the choice of the normaliser, which turns scores into weights, and its parameters."""
    name, params = config_of(screen.setup.run).normaliser
    control = field_control("normaliser", name)
    control.show(st.selectbox, list(NORMALISERS), filter_mode=None, help=say("help.normaliser"))
    show_parameters(name, params, NORMALISERS[name].parameters, partial(take_normaliser, name))


def take_normaliser(name: str, control: str, params: Parameters) -> None:
    """Stores the normaliser and its changed parameters in the Setup.

    control: the name of the control that was used, which shows a refusal.
    """
    try_change(control, normaliser=write_choice(name, params, NORMALISERS))


# ---- the parameters --------------------------------------------------------------------------------------------------
def show_parameters(
    owner: str, params: Mapping[str, object], declared: Iterable[Parameter], take: TakeParameters
) -> None:
    """Shows controls for those parameters of a mechanism that have an effect.

    owner: the name of the mechanism. take: a function that is called with the control's name and all parameters after a
    change.
    """
    usual = {parameter.name: parameter.usual for parameter in declared}
    for parameter in declared:
        is_idle = parameter.beside and params[parameter.beside] == usual[parameter.beside]
        if not is_idle and not parameter.several:
            show_parameter(owner, params, parameter, take)


def show_parameter(owner: str, params: Mapping[str, object], parameter: Parameter, take: TakeParameters) -> None:
    """Shows the control of one parameter of a mechanism.

    owner: the mechanism's name. take: called with the control's name and all parameters after a change.
    """
    name = f"{owner}_{parameter.name}"
    control = field_control(
        name,
        params[parameter.name],
        lambda value: take(name, {**params, parameter.name: value}),
        label=f"parameter.{name}",
        option_text=lambda word: say(f"parameter_word.{word}"),
    )
    if parameter.words:
        control.show(st.selectbox, parameter.words, filter_mode=None)
    elif parameter.is_whole:
        control.show(st.number_input, step=1)
    else:
        control.show(st.number_input, step=1.0, format="%g")
