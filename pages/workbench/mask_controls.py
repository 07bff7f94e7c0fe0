"""Shows the controls for the masks and their parameters; a custom mask is a matrix of 0 and 1, edited in cells."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.inputs.matrix_values import UNCHANGED
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.parameters import names_of
from pages.export.page_links import link_to_drawer
from pages.panels.control import Control
from pages.panels.live_slider import ListSlider, TypedNumber, show_list_slider
from pages.panels.setup_controls import field_control, show_refusal, try_change
from pages.session.fragments import page_part
from pages.session.labels import current_palette, place_names
from pages.session.view import ScreenState
from pages.setup.choice_text import mask_parameters_of, read_mask, write_mask
from pages.setup.link_values import MAX_WHOLE_NUMBER
from pages.setup.resolve import config_of
from pages.setup.setup import Setup
from pages.site.words import say
from pages.workbench.control_rows import merge_choice, show_choice_row
from pages.workbench.input_controls import matrix_box

MaskParameters = dict[str, object]  # {parameter of a mask: its value}
CAUSAL, CUSTOM = "causal", "custom"  # CUSTOM: a matrix of 0 and 1 that the visitor edits
RARE_MASKS = ("dilated", "local_global")  # masks that the panel Research variants offers
MAX_SUGGESTED_WINDOW = 3  # keys


def mask_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the mask controls: masks, sizes, tokens, steps."""
    trace = screen.trace
    sizes = trace.sizes()
    masks = config_of(screen.setup.run).masks
    names_tokens = any("global_tokens" in params for _, params in masks)
    return (
        repr(masks),
        screen.setup.run.allowed,
        sizes["T"],
        sizes["S"],
        trace.labels["S"] if names_tokens else (),
        current_palette().share,
        *[step for step in trace.steps if step.startswith("allowed")],
    )


# ---- on the second line ----------------------------------------------------------------------------------------------
def show_causal_switch(setup: Setup) -> None:
    """Shows the switch for the causal mask, which blocks the words after the query."""
    masks = dict(config_of(setup.run).masks)

    def switch_causal(is_on: bool) -> None:
        others = {name: params for name, params in masks.items() if name != CAUSAL}
        chosen = {CAUSAL: suggest_mask_parameters(CAUSAL, 0), **others} if is_on else others
        try_change(CAUSAL, masks=write_masks(chosen))

    field_control(CAUSAL, is_causal(setup), switch_causal).draw(st.toggle)


def is_causal(setup: Setup) -> bool:
    """Returns whether the causal mask is on."""
    return CAUSAL in dict(config_of(setup.run).masks)


def link_to_proof() -> None:
    """Shows a link to the lesson on masks, where a later word is exchanged and no earlier output changes."""
    link_to_drawer("masks", "future", {"mask": CAUSAL}, say("control.causal_proof"))


# ---- rows of the panels ----------------------------------------------------------------------------------------------
@page_part(mask_dependencies)
def show_mask_row(screen: ScreenState) -> None:
    """Shows the row with the usual masks except the causal one, their parameters, and the matrix of a custom mask."""
    show_row_of_masks("masks", list_usual_masks(), screen)


@page_part(mask_dependencies)
def show_rare_mask_row(screen: ScreenState) -> None:
    """Shows the row with the rare masks and their parameters, and the position of the causal mask's first query."""
    show_row_of_masks("rare_masks", RARE_MASKS, screen)


def list_usual_masks() -> list[str]:
    """Returns the masks of the panel More: all that are not rare, except the causal one, and the custom one."""
    return [name for name in MASKS if name not in (CAUSAL, *RARE_MASKS)] + [CUSTOM]


def show_row_of_masks(row: str, offered: Sequence[str], screen: ScreenState) -> None:
    """Shows the row with the choice of some masks; masks in other rows stay chosen.

    row: the name of the row and of its control. offered: the masks of the row; "custom" is a matrix of 0 and 1.
    """
    setup, trace = screen.setup, screen.trace
    masks, keys = dict(config_of(setup.run).masks), trace.sizes()["S"]
    in_force = list(masks) if setup.run.allowed is None else [*masks, CUSTOM]
    chosen = [name for name in offered if name in in_force]

    def choose_masks(names: Sequence[str]) -> None:
        wanted = merge_choice(in_force, offered, names)
        kept = {name: masks.get(name) or suggest_mask_parameters(name, keys) for name in wanted if name in MASKS}
        custom = setup.run.allowed or UNCHANGED
        try_change(row, masks=write_masks(kept), allowed=custom if CUSTOM in wanted else None)

    def show_numbers() -> None:
        show_refusal(row)
        for name in masks:
            if name in offered or (name == CAUSAL and row == "rare_masks"):
                show_mask_numbers(trace, masks, name)
        if CUSTOM in chosen:
            matrix_box("allowed", screen.inputs)

    show_choice_row(row, "masks", offered, chosen, choose_masks, show_numbers)


# ---- masks in a Setup's form, and their default parameters -----------------------------------------------------------
def write_masks(masks: Mapping[str, MaskParameters]) -> tuple[str, ...]:
    """Returns each mask with its parameters as text, in the format of the Setup field `masks`."""
    return tuple(write_mask(name, params) for name, params in masks.items())


def suggest_mask_parameters(name: str, keys: int) -> MaskParameters:
    """Returns parameters for a mask that was just switched on, so that it blocks some of the other keys but not all."""
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
    """Returns the value of a control in the form of a mask's parameter; lengths and global_tokens become tuples."""
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
