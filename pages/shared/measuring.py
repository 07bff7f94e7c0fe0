"""What takes a while: one piece after the other, with how far it is and a way to stop."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from threading import Semaphore
from time import perf_counter
from typing import TypeVar

import streamlit as st

from pages.shared import choices
from pages.shared.words import say

Task = TypeVar("Task", bound=Hashable)
Show = Callable[[dict[Task, float]], None]
ROOM = Semaphore()  # for one measurement: a second one beside it would make both slower
PATIENCE = 0.5  # seconds that may pass without a word


def one_by_one(
    tasks: Sequence[Task], patience: float = PATIENCE, stopped: Callable[[], None] | None = None
) -> Iterator[Task]:
    """The tasks one by one. Where they take longer than `patience` all together, a bar says how many are done, beside a
    button to stop; any other control stops as well. stopped: called when the button is pressed."""
    begun, place, bar = perf_counter(), st.empty(), None
    for done, task in enumerate(tasks):
        if bar is None and perf_counter() - begun >= patience:
            with place.container(horizontal=True, vertical_alignment="center"):
                bar = st.progress(0.0)
                st.button(
                    say("lesson.stop"), key=f"stop_{choices.slug()}", icon=":material/stop_circle:", on_click=stopped
                )
        if bar is not None:
            bar.progress(done / len(tasks), say("lesson.done", done=done, count=len(tasks)))
        yield task
    place.empty()


def measured(
    name: str, tasks: Sequence[Task], measure: Callable[[Task], float], start: str, show: Show[Task] | None = None
) -> dict[Task, float]:
    """What was measured of the tasks in this session. A button begins it; what is there when it is stopped stays. One
    session of this process measures at a time; another is told so.

    name: of the measurement in its lesson. start: what stands on the button. show: draws what there is, under the
    button, and anew after each task."""
    kept: dict[Task, float] = st.session_state.setdefault(f"measured_{choices.slug()}_{name}", {})
    line, place = st.container(horizontal=True, vertical_alignment="center"), st.empty() if show else None

    def found() -> dict[Task, float]:
        return {task: kept[task] for task in tasks if task in kept}

    def draw() -> None:
        if place is not None:
            with place.container():
                show(found())

    draw()
    with line:
        if st.button(start, key=f"measure_{choices.slug()}_{name}", icon=":material/timer:"):
            if not ROOM.acquire(blocking=False):
                st.info(say("lesson.busy"), icon=":material/hourglass_top:")
                return found()
            try:
                for task in one_by_one(tasks, patience=0.0):
                    kept[task] = measure(task)
                    draw()
            finally:
                ROOM.release()
    return found()
