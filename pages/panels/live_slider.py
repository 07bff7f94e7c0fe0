"""A slider that the picture follows while it is dragged; the server computes when it is let go."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages import components
from pages.session.labels import current_palette

TEMPERATURE_RANGE = (0.1, 10.0)  # of what is dragged; a link may say more


@dataclass(frozen=True)
class LiveSlider:
    """Which parameter of which step a slider drags, and how far it goes: from least to most by equal ratios."""

    label: str
    value: float
    least: float
    most: float
    step: str
    parameter: str


def show_live_slider(slider: LiveSlider, key: str, take: Callable[[float], None]) -> None:
    """Shows the slider. take: is called with the value at which it is let go."""

    def handle_release() -> None:
        value = st.session_state[key].released
        if isinstance(value, int | float) and slider.least <= value <= slider.most:
            take(float(value))

    data = {**vars(slider), "values": None, "colour": current_palette().share}
    components.live_slider(data=data, key=key, on_released_change=handle_release)
