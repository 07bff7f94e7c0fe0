"""A slider that the picture follows while it is dragged; the server computes the run after it is released."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from pages import components
from pages.panels.setup_controls import keep_typed
from pages.session.collected import show_moving
from pages.session.labels import current_palette

TEMPERATURE_RANGE = (0.1, 10.0)  # range of the slider; a link may exceed it
Take = Callable[[float], None]


@dataclass(frozen=True)
class RatioSlider:
    """A slider for a parameter of a step, whose successive positions from least to most have equal ratios."""

    label: str
    value: float
    least: float
    most: float
    step: str
    parameter: str


@dataclass(frozen=True)
class ListSlider:
    """A slider through a list of values: the text of each value, and its change of the flow's run: {"params": {step:
    {parameter: value}}} or {"values": {step: numbers}}; None if it changes nothing.
    """

    label: str
    value: float
    values: Sequence[float]
    texts: Sequence[str]
    changes: Sequence[dict] | None = None


@dataclass(frozen=True)
class TypedNumber:
    """A box for typing a slider's number, including numbers that the slider does not have.

    control: the name under which a refusal is stored; the refused number stays in the box. step: of the box's arrows;
    an int allows only whole numbers. most: the largest absolute value.
    """

    control: str
    step: float
    most: float = sys.float_info.max

    def read(self, number: float) -> float | None:
        """The number in the type that the control accepts; None for a fraction such as 1.5 if only whole numbers are
        allowed.
        """
        if isinstance(self.step, float):
            return float(number)
        whole = int(number)
        return whole if whole == number else None


def show_ratio_slider(slider: RatioSlider, key: str, take: Take, typed: TypedNumber | None = None) -> None:
    """Shows the slider. take: handler of the value that is released or typed."""

    data = vars(slider) | {"changes": {"step": slider.step, "parameter": slider.parameter}, "values": None}
    ends = (slider.least, slider.most)
    draw_slider(data, key, ends, lambda value: take(float(value)), take, typed)


def show_list_slider(
    slider: ListSlider, key: str, take: Take, width: int | str = "stretch", typed: TypedNumber | None = None
) -> None:
    """Shows the slider. take: handler of the value that is released or typed."""

    def take_released(value: float) -> None:
        if value in slider.values:
            take(slider.values[slider.values.index(value)])

    ends = (min(slider.values), max(slider.values))
    draw_slider(vars(slider), key, ends, take_released, take, typed, width)


def draw_slider(
    data: dict,
    key: str,
    ends: tuple[float, float],
    take_released: Take,
    take_typed: Take,
    typed: TypedNumber | None,
    width: int | str = "stretch",
) -> None:
    """Draws a slider under its key. ends: the least and the largest number that the slider sends."""
    most = typed.most if typed else 0

    def handle_typing(number: float) -> None:
        wanted = typed and typed.read(number)
        if wanted is not None:
            st.session_state[f"{key}.typed"] = wanted
            take_typed(wanted)

    box = typed and {"number": keep_typed(key, typed.control, data["value"]), "step": typed.step}
    data = data | {"of": key, "colour": current_palette().share, "typed": box}
    show_moving(
        components.live_slider,
        data=data,
        key=key,
        given={"least": ends[0], "most": ends[1], "least_typed": -most, "most_typed": most},
        on_released=take_released,
        on_typed=handle_typing,
        width=width,
    )
