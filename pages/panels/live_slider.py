"""A slider that the picture follows while it is dragged; the server computes when it is let go."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from pages import components
from pages.session.labels import current_palette


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


def show_ratio_slider(slider: RatioSlider, key: str, take: Callable[[float], None]) -> None:
    """Shows the slider. take: is called with the value at which it is let go."""

    def handle_release() -> None:
        value = st.session_state[key].released
        if isinstance(value, int | float) and slider.least <= value <= slider.most:
            take(float(value))

    data = vars(slider) | {"changes": {"step": slider.step, "parameter": slider.parameter}, "values": None}
    draw_slider(data, key, handle_release)


def show_list_slider(slider: ListSlider, key: str, take: Callable[[float], None], width: int | str = "stretch") -> None:
    """Shows the slider. take: is called with the value at which it is let go."""

    def handle_release() -> None:
        released = st.session_state[key].released
        if isinstance(released, int | float) and released in slider.values:
            take(slider.values[slider.values.index(released)])

    draw_slider(vars(slider), key, handle_release, width)


def draw_slider(data: dict, key: str, handle_release: Callable[[], None], width: int | str = "stretch") -> None:
    """Draws a slider, under the name of its key."""
    data = data | {"of": key, "colour": current_palette().share}
    components.live_slider(data=data, key=key, on_released_change=handle_release, width=width)
