"""Building a lecture of one's own: its scenes' titles, notes, questions, steps, cells and places."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.export.doors import workbench_door
from pages.lectures import talk
from pages.lectures.script import SCENE_STEPS, SCENE_TEXT_LIMITS, Scene
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.labels import axis_name, place_names
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal


def title_box() -> None:
    """The title of one's own lecture."""

    def typed() -> None:
        talk.take_lecture(replace(talk.current_lecture(), title=st.session_state["c_lecture_title"]))

    st.session_state["c_lecture_title"] = talk.current_lecture().title
    st.text_input(
        say("present.desk.title"), key="c_lecture_title", on_change=typed, max_chars=SCENE_TEXT_LIMITS["title"]
    )


def scene_editor(at: int) -> None:
    """What stands in a scene of one's own, its place, and what it shows."""
    act, count = talk.current_lecture().scenes[at], len(talk.current_lecture().scenes)
    boxes = {"title": st.text_input, "note": st.text_area, "question": st.text_input}
    for name, box in boxes.items():
        edit_scene_part(at, name, getattr(act, name), box, max_chars=SCENE_TEXT_LIMITS[name])
    edit_scene_part(
        at, "steps", list(act.steps), st.pills, options=SCENE_STEPS, selection_mode="multi", format_func=name_scene_step
    )
    scene_cell_pickers(at, act)
    with st.container(horizontal=True):
        workbench_door(act.setup, "scene")
        scene_button("present", talk.start_lecture, at)
        scene_button(
            "earlier", lambda: talk.take_lecture(talk.current_lecture().moved(at, at - 1), at - 1), off=at == 0
        )
        scene_button(
            "later", lambda: talk.take_lecture(talk.current_lecture().moved(at, at + 1), at + 1), off=at == count - 1
        )
        scene_button("remove", lambda: talk.take_lecture(talk.current_lecture().removed(at), max(at - 1, 0)))
        scene_button(
            "replace",
            lambda: talk.take_lecture(talk.current_lecture().changed(at, setup=setup_state.current_setup(), unread=())),
        )


def edit_scene_part(at: int, name: str, value: object, widget: Callable, **how) -> None:
    """One part of a scene, in a widget."""
    key = f"c_scene_{name}"

    def changed() -> None:
        given = st.session_state[key]
        value = tuple(step for step in SCENE_STEPS if step in given) if name == "steps" else given
        talk.take_lecture(talk.current_lecture().changed(at, **{name: value}))

    st.session_state[key] = value
    widget(say(f"present.desk.{name}"), key=key, on_change=changed, **how)


def with_cell(setup: Setup, step: str, cell: tuple[int, ...], dims: tuple[str, ...]) -> Setup:
    """A Setup with a cell opened; its query is looked at, and its head where one is."""
    place = dict(zip(dims, cell, strict=True))
    head = None if setup.head is None else place.get("H", setup.head)
    return replace(setup, step=step, cell=cell, token=place.get("T", setup.token), head=head)


def name_scene_step(step: str) -> str:
    """A step as the page calls it."""
    return say(f"present.beat.{step}")


def scene_button(name: str, act: Callable, *args, off: bool = False) -> None:
    """One thing to do with a scene."""
    st.button(say(f"present.desk.{name}"), key=f"b_scene_{name}", on_click=act, args=args, disabled=off)


def scene_cell_pickers(at: int, act: Scene) -> None:
    """Which cell's arithmetic a scene shows."""
    try:
        trace = trace_for(act.setup)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    steps = [*trace.computed()]
    step = act.setup.step if act.setup.step in steps else "weights"
    cell = act.setup.cell if act.setup.cell and trace.holds(step, act.setup.cell) else (0,) * trace[step].dim()

    def placed(new_step: str, new_cell: tuple[int, ...]) -> None:
        talk.take_lecture(
            talk.current_lecture().changed(
                at, setup=with_cell(act.setup, new_step, new_cell, trace.step(new_step).dims)
            )
        )

    def chose_step() -> None:
        wanted = st.session_state["c_scene_step"]
        if wanted in trace:
            placed(wanted, (0,) * trace[wanted].dim())

    def chose_place() -> None:
        wanted = tuple(st.session_state.get(f"c_scene_axis_{axis}", 0) for axis in range(len(cell)))
        if trace.holds(step, wanted):
            placed(step, wanted)

    with st.container(horizontal=True):
        st.session_state["c_scene_step"] = step
        st.selectbox(say("present.desk.cell"), steps, key="c_scene_step", on_change=chose_step, width=200)
        for axis, (dim, size) in enumerate(zip(trace.step(step).dims, trace[step].shape, strict=True)):
            if size > 1:
                names = place_names(trace, dim, size)
                st.session_state[f"c_scene_axis_{axis}"] = cell[axis]
                st.selectbox(
                    axis_name(dim),
                    range(size),
                    format_func=names.__getitem__,
                    key=f"c_scene_axis_{axis}",
                    on_change=chose_place,
                    width=130,
                )
