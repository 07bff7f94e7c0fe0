"""The controls for the parameters that a mechanism declares: numbers and words."""

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from attention_core.mechanism.parameters import Parameter
from pages.panels.setup_controls import field_control
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
