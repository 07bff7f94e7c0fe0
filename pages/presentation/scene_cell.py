"""Controls for the cell whose arithmetic a scene of the own lecture shows."""

from collections.abc import Callable

import streamlit as st

from attention_core import Trace
from attention_core.record.errors import AttentionError
from pages.lectures import lecture_session
from pages.lectures.script import Scene
from pages.runs.cache import trace_for
from pages.session.labels import axis_name, place_names
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal


def scene_cell_pickers(index: int, scene: Scene) -> None:
    """Shows the choice of the step and cell that a workbench scene opens; or the reason why its run cannot be
    computed.
    """
    try:
        trace = trace_for(scene.setup)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    step, cell = get_scene_cell(trace, scene.setup)

    def take_cell(new_step: str, new_cell: tuple[int, ...]) -> None:
        axes = trace.step(new_step).dims
        setup = with_opened_cell(scene.setup, new_step, new_cell, axes)
        lecture_session.take_lecture(lecture_session.current_lecture().changed(index, shown=setup))

    def take_step() -> None:
        chosen_step = st.session_state["c_scene_step"]
        if chosen_step in trace:
            take_cell(chosen_step, (0,) * trace[chosen_step].dim())

    def take_place() -> None:
        chosen_cell = read_chosen_cell(len(cell))
        if trace.holds(step, chosen_cell):
            take_cell(step, chosen_cell)

    with st.container(horizontal=True):
        st.session_state["c_scene_step"] = step
        st.selectbox(
            say("present.desk.cell"),
            list(trace.computed()),
            key="c_scene_step",
            on_change=take_step,
            width=200,
        )
        place_pickers(trace, step, cell, take_place)


def get_scene_cell(trace: Trace, setup: Setup) -> tuple[str, tuple[int, ...]]:
    """The step and the cell that a Setup opens; by default the weights, and the first cell."""
    step = setup.view.step
    if step not in trace.computed():
        step = "weights"
    if setup.view.cell and trace.holds(step, setup.view.cell):
        return step, setup.view.cell
    first_cell = (0,) * trace[step].dim()
    return step, first_cell


def place_pickers(trace: Trace, step: str, cell: tuple[int, ...], take_place: Callable[[], None]) -> None:
    """Shows a choice of the index along each axis of a step that has more than one index."""
    axes = zip(trace.step(step).dims, trace.step(step).shape, strict=True)
    for axis, (dim, size) in enumerate(axes):
        if size <= 1:
            continue
        key = f"c_scene_axis_{axis}"
        names = place_names(trace, dim, size)
        st.session_state[key] = cell[axis]
        st.selectbox(
            axis_name(dim),
            range(size),
            format_func=names.__getitem__,
            key=key,
            on_change=take_place,
            width=130,
        )


def read_chosen_cell(axes: int) -> tuple[int, ...]:
    """The index that is chosen along each of the `axes` axes; 0 for an axis without a control."""
    places = [st.session_state.get(f"c_scene_axis_{axis}", 0) for axis in range(axes)]
    return tuple(places)


def with_opened_cell(setup: Setup, step: str, cell: tuple[int, ...], axes: tuple[str, ...]) -> Setup:
    """A copy of a Setup in which a cell is opened and the cell's query is selected; also the cell's head, if the Setup
    selects a head.
    """
    places = dict(zip(axes, cell, strict=True))
    token = places.get("T", setup.view.token)
    head = setup.view.head
    if head is not None:
        head = places.get("H", head)
    return setup.with_fields(step=step, cell=cell, token=token, head=head)
