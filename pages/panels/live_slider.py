"""Draws a slider: the picture follows it while it is dragged, and the server computes the run when it is released."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from pages import components
from pages.panels.control import Control
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.site.words import say

TEMPERATURE_RANGE = (0.1, 10.0)  # least and largest temperature of the slider; a link may contain others


@dataclass(frozen=True)
class RatioSlider:
    """A slider for a parameter of a step; its positions from `least` to `most` are a geometric sequence."""

    least: float
    most: float
    step: str
    parameter: str


@dataclass(frozen=True)
class ListSlider:
    """A slider through a list of values.

    texts: the text of each value. changes: for each value the change of the run in the animated picture, {"params":
    {step: {parameter: value}}} or {"values": {step: numbers}}; None if the slider does not change the run.
    """

    values: Sequence[float]
    texts: Sequence[str]
    changes: Sequence[dict] | None = None


@dataclass(frozen=True)
class TypedNumber:
    """A text input beside a slider, for numbers between the slider's positions; a refused number stays in the input.

    step: the increment of the input's arrows; an int allows only whole numbers. most: the largest absolute value.
    """

    step: float
    most: float = sys.float_info.max

    def read(self, number: float) -> float | None:
        """Returns a typed number as float or int, the type of `step`; None for a fraction if the number
        must be whole.
        """
        if isinstance(self.step, float):
            return float(number)
        whole = int(number)
        return whole if whole == number else None


def show_ratio_slider(
    control: Control, slider: RatioSlider, typed: TypedNumber | None = None, line_width: int | None = None
) -> None:
    """Shows a slider for a control's value, whose positions are a geometric sequence.

    line_width: if given, label, slider and value are on one line, which is this many pixels wide.
    """
    changes = {"step": slider.step, "parameter": slider.parameter}
    data = vars(slider) | {"changes": changes, "values": None, "is_line": line_width is not None}
    ends = (slider.least, slider.most)
    draw_slider(control, data, ends, lambda value: control.take(float(value)), typed, width=line_width or "stretch")


def show_list_slider(
    control: Control,
    slider: ListSlider,
    typed: TypedNumber | None = None,
    label: str | None = None,
    width: int | str = "stretch",
) -> None:
    """Shows a slider for a control's value, through a list of values.

    label: the text to show instead of the control's label.
    """

    def take_released(value: float) -> None:
        if value in slider.values:
            control.take(slider.values[slider.values.index(value)])

    ends = (min(slider.values), max(slider.values))
    draw_slider(control, vars(slider), ends, take_released, typed, label, width)


def draw_slider(
    control: Control,
    data: dict,
    ends: tuple[float, float],
    take_released: Callable[[float], None],
    typed: TypedNumber | None,
    label: str | None = None,
    width: int | str = "stretch",
) -> None:
    """Draws a slider under its control's key.

    ends: the least and the largest number that the browser may send. take_released: a callback that gets the number at
    which the slider was released. typed: the number input beside the slider, if any.
    """
    most = typed.most if typed else 0
    place = f"{control.key}.typed"
    text = say(control.label) if label is None else label

    def handle_typing(number: float) -> None:
        wanted = typed and typed.read(number)
        if wanted is not None:
            st.session_state[place] = wanted
            control.take(wanted)

    data = data | {
        "label": text,
        "value": control.value,
        "of": control.key,
        "colour": current_palette().share,
        "typed": typed and {"number": control.keep(place), "step": typed.step},
    }
    show_moving(
        components.live_slider,
        data=data,
        key=control.key,
        given={"least": ends[0], "most": ends[1], "least_typed": -most, "most_typed": most},
        on_released=take_released,
        on_typed=handle_typing,
        width=width,
    )
