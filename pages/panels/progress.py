"""Computes results one after another, with a progress bar and a stop button."""

from collections.abc import Callable, Hashable, Sequence
from threading import Semaphore
from time import perf_counter
from typing import TypeVar

import streamlit as st

from pages.panels.lesson_choices import current_slug
from pages.site.words import say

BAR_DELAY_SECONDS = 0.15  # seconds before the progress bar of a computation appears
MEASUREMENT_SLOT = Semaphore()  # one measurement at a time in this process, because two would slow each other down
LAST_ITEM_SECONDS = 1.0  # seconds to wait for a stopped measurement's current item
Item = TypeVar("Item", bound=Hashable)
ShowMeasured = Callable[[dict[Item, float]], None]


def compute_one_by_one(
    compute: Callable, items: Sequence, stop: Callable[[], None] | None = None, patience: float = BAR_DELAY_SECONDS
) -> list:
    """Returns the results of compute for all items, and shows a progress bar if this takes long.

    Between two items, any control that the visitor moves ends this run of the page and starts another. stop: the
    handler of a stop button beside the bar, which must reduce the number of remaining items; None for no button.
    patience: the seconds before the bar is shown.
    """
    place = st.empty()
    begun = perf_counter()
    bar = None
    found = []
    for item in items:
        if bar is None and perf_counter() - begun > patience:
            bar = show_progress_bar(place, stop)
        if bar is not None:
            done, count = len(found), len(items)
            bar.progress(done / count, say("lesson.measured", done=done, count=count))
        found.append(compute(item))
    place.empty()
    return found


def show_progress_bar(
    place: st.delta_generator.DeltaGenerator, stop: Callable[[], None] | None
) -> st.delta_generator.DeltaGenerator:
    """Shows the bar with the stop button beside it, and returns the bar.

    stop: the handler of the button; None for no button.
    """
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0)
        if stop is not None:
            st.button(
                say("lesson.stop"),
                key=f"stop_{current_slug()}",
                icon=":material/stop_circle:",
                on_click=stop,
            )
    return bar


def measure_on_request(
    name: str,
    items: Sequence[Item],
    measure: Callable[[Item], float],
    start: str,
    show: ShowMeasured[Item] | None = None,
) -> dict[Item, float]:
    """Returns the items that were measured in this session, with their measurements.

    One button starts the measurement; another stops it, and keeps the results up to then. Only one session of this
    process measures at a time, and another session gets a message.

    name: the name of the measurement in its lesson. start: the label of the first button. show: a function that draws
    the results, at first and again after each item.
    """
    session_figures = st.session_state.setdefault(f"measured_{current_slug()}_{name}", {})
    line = st.container(horizontal=True, vertical_alignment="center")
    place = st.empty() if show else None

    def get_figures() -> dict[Item, float]:
        return {item: session_figures[item] for item in items if item in session_figures}

    def draw_figures() -> None:
        if place is not None:
            with place.container(gap="xsmall"):
                show(get_figures())

    def measure_one(item: Item) -> None:
        session_figures[item] = measure(item)
        draw_figures()

    draw_figures()
    with line:
        if st.button(start, key=f"measure_{current_slug()}_{name}", icon=":material/timer:"):
            if not MEASUREMENT_SLOT.acquire(timeout=LAST_ITEM_SECONDS):
                st.info(say("lesson.busy"), icon=":material/hourglass_top:")
                return get_figures()
            try:
                for item in items:
                    session_figures.pop(item, None)
                compute_one_by_one(measure_one, items, lambda: None, patience=0.0)
            finally:
                MEASUREMENT_SLOT.release()
    return get_figures()
