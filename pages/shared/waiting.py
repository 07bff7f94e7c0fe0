"""Work in parts, one after the other: a bar that says how far it is, and a way to stop."""

from collections.abc import Callable, Hashable, Sequence
from time import perf_counter
from typing import TypeVar

import streamlit as st

from pages.shared.choices import slug
from pages.shared.words import say

PATIENCE = 0.15  # seconds: what is done sooner needs no bar
Item = TypeVar("Item", bound=Hashable)


def one_by_one(
    compute: Callable, items: Sequence, stop: Callable[[], None] | None = None, patience: float = PATIENCE
) -> list:
    """What is computed of each item. Between two of them any control that is moved ends the run, and begins another.

    stop: called by a button beside the bar, which is there where this is given: after it the work must be less."""
    place, begun, found, bar = st.empty(), perf_counter(), [], None
    for item in items:
        if bar is None and perf_counter() - begun > patience:
            bar = show_bar(place, stop)
        if bar is not None:
            bar.progress(len(found) / len(items), say("lesson.measured", done=len(found), count=len(items)))
        found.append(compute(item))
    place.empty()
    return found


def show_bar(
    place: st.delta_generator.DeltaGenerator, stop: Callable[[], None] | None
) -> st.delta_generator.DeltaGenerator:
    """The bar, and the button beside it."""
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0)
        if stop is not None:
            st.button(say("lesson.stop"), key=f"stop_{slug()}", icon=":material/stop_circle:", on_click=stop)
    return bar


def measured_on_request(
    name: str, items: Sequence[Item], measure: Callable[[Item], float], start: str
) -> dict[Item, float]:
    """What was measured of the items in this session. A button begins it, another stops it; what was measured by then
    stays.

    name: of the measurement in its lesson. start: what stands on the button."""
    found: dict[Item, float] = st.session_state.setdefault(f"measured_{slug()}_{name}", {})
    if st.button(start, key=f"measure_{slug()}_{name}", icon=":material/timer:"):
        for item in items:
            found.pop(item, None)
        one_by_one(lambda item: found.update({item: measure(item)}), items, lambda: None, patience=0.0)
    return {item: found[item] for item in items if item in found}
