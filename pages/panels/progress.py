"""Work in parts, one after the other: a bar that says how far it is, and a way to stop."""

from collections.abc import Callable, Hashable, Sequence
from threading import Semaphore
from time import perf_counter
from typing import TypeVar

import streamlit as st

from pages.panels.lesson_choices import current_slug
from pages.site.words import say

BAR_DELAY_SECONDS = 0.15  # seconds: what is done sooner needs no bar
MEASUREMENT_SLOT = Semaphore()  # of this process, for one measurement: a second one beside it would make both slower
LAST_ITEM_SECONDS = 1.0  # seconds: what was stopped still ends the item that it is at
Item = TypeVar("Item", bound=Hashable)
ShowMeasured = Callable[[dict[Item, float]], None]


def compute_one_by_one(
    compute: Callable, items: Sequence, stop: Callable[[], None] | None = None, patience: float = BAR_DELAY_SECONDS
) -> list:
    """Gives what is computed of each item, with a bar where that takes longer than the patience, in seconds.

    Between two items any control that is moved ends the run, and begins another. stop: called by a button beside the
    bar, which is there where this is given: after it the work must be less.
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
    """The bar, and the button beside it."""
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
    """Gives what was measured of the items in this session. A button begins to measure, another stops it; what was
    measured by then stays. One session of this process measures at a time; another is told so.

    name: of the measurement in its lesson. start: what stands on the button. show: draws what there is, under the
    button, and anew after each item.
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
