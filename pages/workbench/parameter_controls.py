"""The controls for the parameters that a mechanism declares: numbers and words."""

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from attention_core.mechanism.parameters import Parameter
from pages.panels.setup_controls import mirror_field, show_refusal
from pages.site.words import say

TakeParameter = Callable[[str, dict[str, object]], None]  # called with the name of the control and all parameters


def show_parameters(
    owner: str, params: Mapping[str, object], declared: Iterable[Parameter], take: TakeParameter
) -> None:
    """Shows controls for those parameters of a mechanism that have an effect. take: called with all parameters after a
    change.
    """
    usual = {parameter.name: parameter.usual for parameter in declared}
    for parameter in declared:
        is_idle = parameter.beside and params[parameter.beside] == usual[parameter.beside]
        if not is_idle and not parameter.several:
            show_parameter(owner, params, parameter, take)


def show_parameter(owner: str, params: Mapping[str, object], parameter: Parameter, take: TakeParameter) -> None:
    """Shows the control for one parameter of a mechanism."""
    control = f"{owner}_{parameter.name}"
    key = f"c_{control}"

    def take_value() -> None:
        take(control, {**params, parameter.name: st.session_state[key]})

    mirror_field(key, control, params[parameter.name])
    label = say(f"parameter.{control}")
    if parameter.words:
        st.selectbox(
            label,
            parameter.words,
            format_func=lambda word: say(f"parameter_word.{word}"),
            key=key,
            on_change=take_value,
            filter_mode=None,
        )
    elif parameter.is_whole:
        st.number_input(label, step=1, key=key, on_change=take_value)
    else:
        st.number_input(label, step=1.0, format="%g", key=key, on_change=take_value)
    show_refusal(control)
