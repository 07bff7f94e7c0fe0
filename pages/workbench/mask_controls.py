"""Shows the controls for the masks and their parameters; a custom mask is a matrix of 0 and 1, edited in cells."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.inputs.matrix_values import UNCHANGED
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.parameters import names_of
from pages.panels.control import Control
from pages.panels.live_slider import ListSlider, TypedNumber, show_list_slider
from pages.panels.setup_controls import field_control, show_refusal, try_change
from pages.session.fragments import page_part, redraw
from pages.session.labels import current_palette, place_names
from pages.session.view import ScreenState
from pages.setup.choice_text import mask_parameters_of, read_mask, write_mask
from pages.setup.link_values import MAX_WHOLE_NUMBER
from pages.setup.resolve import config_of
from pages.site.controls import MORE_MASKS
from pages.site.words import say
from pages.workbench.input_controls import matrix_box

MaskParameters = dict[str, object]  # {parameter of a mask: its value}
MASKS_IN_SIGHT = ("causal", "local", "padding")  # masks that are always offered; a button shows the other masks
MAX_SUGGESTED_WINDOW = 3  # keys


def mask_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the mask controls: masks, sizes, tokens, steps."""
    trace = screen.trace
    sizes = trace.sizes()
    masks = config_of(screen.setup.run).masks
    names_tokens = any("global_tokens" in params for _, params in masks)
    return (
        repr(masks),
        shows_all(),
        screen.setup.run.allowed,
        sizes["T"],
        sizes["S"],
        trace.labels["S"] if names_tokens else (),
        current_palette().share,
        *[step for step in trace.steps if step.startswith("allowed")],
    )


@page_part(mask_dependencies)
def show_mask_controls(screen: ScreenState) -> None:
    """Shows the choice of masks, the parameters of each mask, and the matrix of a custom mask."""
    setup, trace = screen.setup, screen.trace
    masks, keys = dict(config_of(setup.run).masks), trace.sizes()["S"]
    custom_now = setup.run.allowed or UNCHANGED

    def choose_masks(names: Sequence[str]) -> None:
        custom = custom_now if "custom" in names else None
        chosen_masks = {}
        for name in names:
            if name in MASKS:
                chosen_masks[name] = masks.get(name) or suggest_mask_parameters(name, keys)
        try_change("masks", masks=write_masks(chosen_masks), allowed=custom)

    chosen_names = list(masks)
    if setup.run.allowed is not None:
        chosen_names.append("custom")
    with st.container(gap=None):
        control = field_control("masks", chosen_names, choose_masks)
        control.draw(st.pills, list_offered(chosen_names), selection_mode="multi", help=say("help.masks"))
        show_more_masks_button()
    show_refusal("masks")
    for name in masks:
        is_plain_causal = name == "causal" and masks[name] == dict(read_mask(name)[1])
        if shows_all() or not is_plain_causal:
            show_mask_numbers(trace, masks, name)
    if setup.run.allowed is not None:
        matrix_box("allowed", screen.inputs)


# ---- the offered masks -----------------------------------------------------------------------------------------------
def shows_all() -> bool:
    """Returns whether all masks are offered, together with the rarely used offset of the causal mask."""
    return st.session_state.get(MORE_MASKS, False)


def list_offered(chosen: Collection[str]) -> list[str]:
    """Returns the masks that are offered: the usual masks and the chosen masks, or all masks."""
    return [name for name in (*MASKS, "custom") if shows_all() or name in MASKS_IN_SIGHT or name in chosen]


def show_more_masks_button() -> None:
    """Shows the button that shows or hides the masks that are not always offered."""

    def switch() -> None:
        st.session_state[MORE_MASKS] = not shows_all()
        redraw(show_mask_controls.__name__)

    label, icon = ("control.fewer_masks", "expand_less") if shows_all() else ("control.more_masks", "expand_more")
    st.button(say(label), key="switch_masks", icon=f":material/{icon}:", type="tertiary", on_click=switch)


# ---- masks in a Setup's form, and their default parameters -----------------------------------------------------------
def write_masks(masks: Mapping[str, MaskParameters]) -> tuple[str, ...]:
    """Returns each mask with its parameters as text, in the format of the Setup field `masks`."""
    return tuple(write_mask(name, params) for name, params in masks.items())


def suggest_mask_parameters(name: str, keys: int) -> MaskParameters:
    """Returns parameters for a mask that was just switched on, with which it blocks some but not all other keys."""
    _, params = read_mask(name)
    if name == "sliding":
        params["window"] = min(MAX_SUGGESTED_WINDOW, keys)
    if "lengths" in params:
        params["lengths"] = (max(keys - 1, 1),)
    return params


# ---- the numbers of a mask -------------------------------------------------------------------------------------------
def show_mask_numbers(trace: Trace, masks: Mapping[str, MaskParameters], name: str) -> None:
    """Shows the controls for the parameters of one mask."""
    sizes = trace.sizes()
    params = {"offset": sizes["S"] - sizes["T"], **masks[name]}

    def take_number(parameter: str, value: object) -> None:
        changed_mask = {**masks[name], parameter: read_mask_number(parameter, value)}
        changed_masks = {**masks, name: changed_mask}
        try_change(f"{name}_{parameter}", masks=write_masks(changed_masks))

    for parameter in names_of(mask_parameters_of(name)):
        value = params[parameter]
        control = field_control(
            f"{name}_{parameter}",
            value[0] if parameter == "lengths" else value,
            partial(take_number, parameter),
            label=f"parameter.{name}_{parameter}",
        )
        if parameter == "global_tokens":
            show_token_choice(trace, control)
        elif parameter == "window":
            show_window_slider(trace, name, control)
        else:
            control.draw(st.number_input, min_value=-MAX_WHOLE_NUMBER, max_value=MAX_WHOLE_NUMBER, step=1)
        show_refusal(control.name)


def read_mask_number(parameter: str, value: object) -> object:
    """Returns the value of a control as a mask's parameter; lengths and global_tokens become tuples."""
    if parameter == "lengths":
        return (value,)
    if parameter == "global_tokens":
        return tuple(value)
    return value


def show_window_slider(trace: Trace, name: str, control: Control) -> None:
    """Shows the slider for a mask's window, up to the number of keys; a larger window can be typed."""
    (least,) = [parameter.least for parameter in MASKS[name].parameters if parameter.name == "window"]
    windows = range(least, least + trace.sizes()["S"])
    step = f"allowed_{name}" if f"allowed_{name}" in trace else "allowed"
    slider = ListSlider(
        [*windows],
        [str(each) for each in windows],
        [{"params": {step: {"window": each}}} for each in windows],
    )
    show_list_slider(control, slider, TypedNumber(1, MAX_WHOLE_NUMBER))


def show_token_choice(trace: Trace, control: Control) -> None:
    """Shows the choice of global tokens."""
    names = name_key_places(trace, control.value)
    text_of = names.__getitem__
    control.draw(st.multiselect, list(names), select_all=False, placeholder=say("control.none"), format_func=text_of)


def name_key_places(trace: Trace, chosen: tuple[int, ...]) -> dict[int, str]:
    """Returns {key position: name}, also for chosen positions after the last key."""
    names = dict(enumerate(place_names(trace, "S", trace.sizes()["S"])))
    for place in chosen:
        names.setdefault(place, f"+{place}")
    return names
