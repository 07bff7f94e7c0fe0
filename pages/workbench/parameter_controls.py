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
from pages.workbench.control_rows import merge_choice, show_choice_row, show_row

Parameters = Mapping[str, object]  # {parameter: value} of one position encoding, modifier or normaliser
TakeParameters = Callable[[str, dict[str, object]], None]  # callback that gets a control's name and all parameters
SOFTMAX = next(iter(NORMALISERS))  # the default normaliser of the scores
# position encodings that the panel Research variants offers
RARE_POSITIONS = ("t5", "clipped", "relative_keys", "decoupled_rope")
NORMS = ("layer_norm_before", "rms_norm_before", "rms_norm_output", "layer_norm_after", "rms_norm_after")
STYLES = {"rope": "interleaved", "rope_half": "half"}  # name of RoPE in a link -> how it pairs components


# ---- positions -------------------------------------------------------------------------------------------------------
@page_part(lambda screen: positions_of(screen.setup.run))
def show_position_row(screen: ScreenState) -> None:
    """Shows the row with the usual position encodings and their parameters; for RoPE also which numbers form a pair."""
    show_row_of_positions("positions", list_usual_positions(), screen.setup)


@page_part(lambda screen: positions_of(screen.setup.run))
def show_rare_position_row(screen: ScreenState) -> None:
    """Shows the row with the rare position encodings and their parameters."""
    show_row_of_positions("rare_positions", RARE_POSITIONS, screen.setup)


def list_usual_positions() -> list[str]:
    """Returns the position encodings of the panel More: all that are not rare."""
    return [name for name in POSITIONS if name not in RARE_POSITIONS]


def show_row_of_positions(row: str, offered: Sequence[str], setup: Setup) -> None:
    """Shows the row with the choice of some position encodings; encodings in other rows stay chosen.

    row: the name of the row and of its control. offered: the encodings of the row.
    """
    positions = dict(config_of(setup.run).positions)
    chosen = [name for name in offered if name in positions]

    def choose_positions(given: Sequence[str]) -> None:
        names = merge_choice(positions, offered, given)
        wiring = setup_state.current_setup().run.wiring
        if names:
            wiring = tuple(name for name in wiring if name != "bare")
        texts = [write_position(name, positions[name]) if name in positions else name for name in names]
        try_change(row, positions=to_positions_field(setup.run, tuple(texts)), wiring=wiring)

    def show_numbers() -> None:
        for name in chosen:
            params, declared = positions[name], POSITIONS[name].parameters
            take = partial(take_position, setup, positions, name)
            if name == "rope":  # the style of RoPE is part of its name in a link
                show_rope_style(params, take)
                declared = [parameter for parameter in declared if parameter.name != "style"]
            show_parameters(name, params, declared, take)
        show_refusal(row)

    show_choice_row(row, "positions", offered, chosen, choose_positions, show_numbers)


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
    """Shows the choice of the components that RoPE rotates as a pair: neighbours, or one from each half.

    take: a callback that gets the control's name and the changed parameters.
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
def show_norm_row(screen: ScreenState) -> None:
    """Shows the row with the norms before and after the layer, and their parameters."""
    show_row_of_modifiers("norms", NORMS, screen.setup)


@page_part(lambda screen: modifiers_of(screen.setup.run))
def show_modifier_row(screen: ScreenState) -> None:
    """Shows the row with the modifiers other than the layer's norms, and their parameters."""
    show_row_of_modifiers("modifiers", list_modifiers(), screen.setup)


def list_modifiers() -> list[str]:
    """Returns the modifiers of the panel Research variants: all except the layer's norms."""
    return [name for name in MODIFIERS if name not in NORMS]


def show_row_of_modifiers(row: str, offered: Sequence[str], setup: Setup) -> None:
    """Shows the row with the choice of some modifiers; modifiers in other rows stay chosen.

    row: the name of the row and of its control. offered: the modifiers of the row.
    """
    modifiers = dict(config_of(setup.run).modifiers)
    chosen = [name for name in offered if name in modifiers]

    def choose_modifiers(given: Sequence[str]) -> None:
        started = dict(read_choice(name, MODIFIERS) for name in merge_choice(modifiers, offered, given))
        take_modifiers(row, {name: modifiers.get(name, params) for name, params in started.items()})

    def show_numbers() -> None:
        show_refusal(row)
        for name in chosen:
            show_parameters(name, modifiers[name], MODIFIERS[name].parameters, partial(take_modifier, modifiers, name))

    show_choice_row(row, "modifiers", offered, chosen, choose_modifiers, show_numbers, help_key=f"help.{row}")


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
def show_normaliser_row(screen: ScreenState) -> None:
    """Shows the row with the choice of the normaliser, which turns scores into weights, and its parameters."""
    name, params = config_of(screen.setup.run).normaliser

    def show_choice() -> None:
        control = field_control("normaliser", name)
        control.show(st.selectbox, list(NORMALISERS), filter_mode=None, help=say("help.normaliser"))
        show_parameters(name, params, NORMALISERS[name].parameters, partial(take_normaliser, name))

    show_row("normaliser", say(f"normaliser.{name}"), name != SOFTMAX, show_choice)


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

    owner: the name of the mechanism. take: a callback that gets the control's name and all parameters after a change.
    """
    usual = {parameter.name: parameter.usual for parameter in declared}
    for parameter in declared:
        is_idle = parameter.beside and params[parameter.beside] == usual[parameter.beside]
        if not is_idle and not parameter.several:
            show_parameter(owner, params, parameter, take)


def show_parameter(owner: str, params: Mapping[str, object], parameter: Parameter, take: TakeParameters) -> None:
    """Shows the control of one parameter of a mechanism.

    owner: the name of the mechanism. take: a callback that gets the control's name and all parameters after a change.
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
        may_be_empty = {"value": None} if parameter.usual is None else {}
        control.show(st.number_input, step=1, **may_be_empty)
    else:
        control.show(st.number_input, step=1.0, format="%g")
