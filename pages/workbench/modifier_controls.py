"""Which modifiers a layer has, and their numbers: read off what each declares."""

from collections.abc import Mapping

import streamlit as st

from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.parameters import Parameter
from pages.panels.setup_controls import mirror_field, show_field_pills, show_refusal, try_change
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.choice_text import read_modifier, write_modifier
from pages.setup.setup import config_of
from pages.site.words import say

ModifierParameters = Mapping[str, object]  # of one modifier, by name


@page_part(lambda screen: screen.setup.modifiers)
def show_modifier_controls(screen: ScreenState) -> None:
    """Which modifiers, and each one's numbers."""
    modifiers = dict(config_of(screen.setup).modifiers)

    def choose_modifiers() -> None:
        names = [name for name in st.session_state["c_modifiers"] if name in MODIFIERS]
        started = {name: read_modifier(name)[1] for name in names}
        try_change("modifiers", modifiers=write_modifiers({**started, **keep(modifiers, names)}))

    show_field_pills("modifiers", list(MODIFIERS), list(modifiers), choose_modifiers, say("help.modifiers"))
    show_refusal("modifiers")
    for name in modifiers:
        for parameter in MODIFIERS[name].parameters:
            show_modifier_number(modifiers, name, parameter)


def keep(modifiers: Mapping[str, ModifierParameters], names: list[str]) -> dict[str, ModifierParameters]:
    """Those of the modifiers that are named."""
    return {name: params for name, params in modifiers.items() if name in names}


def write_modifiers(modifiers: Mapping[str, ModifierParameters]) -> tuple[str, ...]:
    """Modifiers as a Setup says them."""
    return tuple(write_modifier(name, params) for name, params in modifiers.items())


def show_modifier_number(modifiers: Mapping[str, ModifierParameters], name: str, parameter: Parameter) -> None:
    """A number of a modifier."""
    control = f"{name}_{parameter.name}"

    def take_number() -> None:
        changed = {**modifiers[name], parameter.name: st.session_state[f"c_{control}"]}
        try_change(control, modifiers=write_modifiers({**modifiers, name: changed}))

    mirror_field(f"c_{control}", control, modifiers[name][parameter.name])
    st.number_input(say(f"parameter.{control}"), step=1.0, format="%g", key=f"c_{control}", on_change=take_number)
    show_refusal(control)
