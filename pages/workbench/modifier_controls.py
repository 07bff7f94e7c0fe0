"""Controls for the modifiers and the normaliser of a layer, and the parameters that each declares."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from pages.panels.setup_controls import field_control, try_change
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.choice_text import read_choice, write_choice
from pages.setup.resolve import config_of, modifiers_of, to_modifiers_field
from pages.site.words import say
from pages.workbench.parameter_controls import show_parameters

ModifierParameters = Mapping[str, object]  # the parameters of one modifier, by name


# ---- modifiers -------------------------------------------------------------------------------------------------------
@page_part(lambda screen: modifiers_of(screen.setup.run))
def show_modifier_controls(screen: ScreenState) -> None:
    """Shows the choice of modifiers, and the parameters of each."""
    modifiers = dict(config_of(screen.setup.run).modifiers)

    def choose_modifiers(chosen: Sequence[str]) -> None:
        names = [name for name in chosen if name in MODIFIERS]
        started = dict(read_choice(name, MODIFIERS) for name in names)
        take_modifiers("modifiers", {**started, **keep(modifiers, names)})

    control = field_control("modifiers", list(modifiers), choose_modifiers)
    control.show(st.pills, list(MODIFIERS), selection_mode="multi", help=say("help.modifiers"))
    for name, params in modifiers.items():
        show_parameters(name, params, MODIFIERS[name].parameters, partial(take_modifier, modifiers, name))


def take_modifier(
    modifiers: Mapping[str, ModifierParameters], name: str, control: str, params: ModifierParameters
) -> None:
    """Sets the parameters of one modifier."""
    take_modifiers(control, {**modifiers, name: params})


def take_modifiers(control: str, modifiers: Mapping[str, ModifierParameters]) -> None:
    """Replaces all modifiers of the Setup."""
    setup = setup_state.current_setup()
    try_change(control, modifiers=to_modifiers_field(setup.run, write_modifiers(modifiers)))


def keep(modifiers: Mapping[str, ModifierParameters], names: list[str]) -> dict[str, ModifierParameters]:
    """Returns the modifiers with these names."""
    return {name: params for name, params in modifiers.items() if name in names}


def write_modifiers(modifiers: Mapping[str, ModifierParameters]) -> tuple[str, ...]:
    """Returns the text of each modifier, as in the field `modifiers`."""
    return tuple(write_choice(name, params, MODIFIERS) for name, params in modifiers.items())


# ---- the normaliser --------------------------------------------------------------------------------------------------
@page_part(lambda screen: screen.setup.run.normaliser)
def show_normaliser_control(screen: ScreenState) -> None:
    """Shows the choice of the normaliser, which turns scores into weights, and its parameters."""
    name, params = config_of(screen.setup.run).normaliser
    control = field_control("normaliser", name)
    control.show(st.selectbox, list(NORMALISERS), filter_mode=None, help=say("help.normaliser"))
    show_parameters(name, params, NORMALISERS[name].parameters, partial(take_normaliser, name))


def take_normaliser(name: str, control: str, params: ModifierParameters) -> None:
    """Sets the parameters of the normaliser."""
    try_change(control, normaliser=write_choice(name, params, NORMALISERS))
