"""A slider that the picture follows while it is dragged; the server computes when it is let go."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from pages import components
from pages.panels.setup_controls import keep_typed
from pages.session.collected import show_moving
from pages.session.labels import current_palette

TEMPERATURE_RANGE = (0.1, 10.0)  # of what is dragged; a link may say more
Take = Callable[[float], None]


@dataclass(frozen=True)
class RatioSlider:
    """Which parameter of which step a slider drags, and how far it goes: from least to most by equal ratios."""

    label: str
    value: float
    least: float
    most: float
    step: str
    parameter: str


@dataclass(frozen=True)
class ListSlider:
    """The values that a slider goes through, the text of each, and what each changes in the run that the flow shows:
    {"params": {step: {parameter: value}}} or {"values": {step: numbers}}; nothing of them where it changes none."""

    label: str
    value: float
    values: Sequence[float]
    texts: Sequence[str]
    changes: Sequence[dict] | None = None


@dataclass(frozen=True)
class TypedNumber:
    """A box in which the number of a slider can be typed, also one that the slider does not have.

    control: where a number is refused, which then stays in the box. step: of the box's arrows; an int allows whole
    numbers only. most: the largest, either way."""

    control: str
    step: float
    most: float = sys.float_info.max

    def read(self, number: float) -> float | None:
        """The number in the type that the control takes; None for 1.5 where only whole numbers are allowed."""
        if isinstance(self.step, float):
            return float(number)
        whole = int(number)
        return whole if whole == number else None


def show_ratio_slider(slider: RatioSlider, key: str, take: Take, typed: TypedNumber | None = None) -> None:
    """Shows the slider. take: is called with the value at which it is let go, or that is typed."""

    data = vars(slider) | {"changes": {"step": slider.step, "parameter": slider.parameter}, "values": None}
    ends = (slider.least, slider.most)
    draw_slider(data, key, ends, lambda value: take(float(value)), take, typed)


def show_list_slider(
    slider: ListSlider, key: str, take: Take, width: int | str = "stretch", typed: TypedNumber | None = None
) -> None:
    """Shows the slider. take: is called with the value at which it is let go, or that is typed."""

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
    """Draws a slider, under the name of its key. ends: the least and the largest number that the slider sends."""
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
