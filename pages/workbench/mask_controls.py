"""Which masks, and their numbers; a custom one as a matrix of 0 and 1."""

import streamlit as st

from attention_core import Trace
from attention_core.mechanism.masks import MASKS
from pages.panels.setup_controls import mirror_field, show_field_pills, show_refusal, try_change
from pages.session.fragments import page_part
from pages.session.labels import place_names
from pages.session.view import ScreenState
from pages.setup.link_values import MAX_MASK_NUMBER
from pages.setup.mask_spec import mask_parameters_of, read_mask, write_mask
from pages.setup.setup import config_of
from pages.site.words import say
from pages.workbench.input_controls import matrix_box


def mask_dependencies(scene: ScreenState) -> tuple[object, ...]:
    """The masks, and what their numbers stand for."""
    trace, masks = scene.trace, config_of(scene.setup).masks
    words = trace.labels["S"] if any("global_tokens" in params for _, params in masks) else ()
    return (repr(masks), scene.setup.allowed, trace.sizes()["T"], trace.sizes()["S"], words)


@page_part(mask_dependencies)
def show_mask_controls(scene: ScreenState) -> None:
    """Which masks, and each one's number; a custom one as a matrix of 0 and 1."""
    setup, material, trace = scene.setup, scene.inputs, scene.trace
    spec, sizes = dict(config_of(setup).masks), trace.sizes()

    def chosen() -> None:
        names = st.session_state["c_masks"]
        custom = (setup.allowed or "~") if "custom" in names else None
        masks = tuple(
            write_mask(name, spec.get(name) or suggest_mask_parameters(name, sizes["S"]))
            for name in names
            if name in MASKS
        )
        try_change("masks", masks=masks, allowed=custom)

    values = [*spec, *(["custom"] if setup.allowed is not None else [])]
    show_field_pills("masks", [*MASKS, "custom"], values, chosen, say("help.masks"))
    show_refusal("masks")
    for name, params in spec.items():
        show_mask_numbers(trace, spec, name, params)
    if setup.allowed is not None:
        matrix_box("allowed", material)


def suggest_mask_parameters(name: str, keys: int) -> dict:
    """A mask's parameters when it is switched on: numbers with which it blocks something, and not all but itself."""
    _, params = read_mask(name)
    if name == "sliding":
        params["window"] = min(3, keys)
    if "lengths" in params:
        params["lengths"] = (max(keys - 1, 1),)
    return params


def show_mask_numbers(trace: Trace, spec: dict, name: str, params: dict) -> None:
    """The numbers of one mask."""
    sizes = trace.sizes()
    current = {"offset": sizes["S"] - sizes["T"], **params}

    def chosen(parameter: str) -> None:
        value = st.session_state[f"c_{name}_{parameter}"]
        value = (value,) if parameter == "lengths" else tuple(value) if parameter == "global_tokens" else value
        changed = {**spec, name: {**params, parameter: value}}
        try_change(f"{name}_{parameter}", masks=tuple(write_mask(*mask) for mask in changed.items()))

    for parameter in mask_parameters_of(name):
        control, value = f"{name}_{parameter}", current[parameter]
        label, key = say(f"parameter.{control}"), f"c_{control}"
        used = {"key": key, "on_change": chosen, "args": (parameter,)}
        if parameter == "global_tokens":
            mirror_field(key, control, list(value))
            names = token_names(trace, value)
            words = {"placeholder": say("control.none"), "format_func": names.__getitem__}
            st.multiselect(label, list(names), select_all=False, **words, **used)
        else:
            mirror_field(key, control, value[0] if parameter == "lengths" else value)
            st.number_input(label, -MAX_MASK_NUMBER, MAX_MASK_NUMBER, step=1, **used)
        show_refusal(control)


def token_names(trace: Trace, chosen: tuple[int, ...]) -> dict[int, str]:
    """The positions of the keys with their words, and those that are chosen beyond them, where only a query stands."""
    names = dict(enumerate(place_names(trace, "S", trace.sizes()["S"])))
    return names | {place: f"+{place}" for place in chosen if place not in names}
