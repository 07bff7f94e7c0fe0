"""Building a lecture of one's own: its scenes' titles, notes, questions, steps, cells and places."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.export.doors import workbench_door
from pages.lectures import talk
from pages.lectures.script import STEPS, TEXTS, Act
from pages.runs.cache import trace_of
from pages.session import setup_state
from pages.session.labels import axis_name, place_names
from pages.setup.setup import Setup
from pages.site.words import say, sentence


def title_box() -> None:
    """The title of one's own lecture."""

    def typed() -> None:
        talk.take(replace(talk.lecture(), title=st.session_state["c_lecture_title"]))

    st.session_state["c_lecture_title"] = talk.lecture().title
    st.text_input(say("present.desk.title"), key="c_lecture_title", on_change=typed, max_chars=TEXTS["title"])


def scene_editor(at: int) -> None:
    """What stands in a scene of one's own, its place, and what it shows."""
    act, count = talk.lecture().acts[at], len(talk.lecture().acts)
    boxes = {"title": st.text_input, "note": st.text_area, "question": st.text_input}
    for name, box in boxes.items():
        written(at, name, getattr(act, name), box, max_chars=TEXTS[name])
    written(at, "steps", list(act.steps), st.pills, options=STEPS, selection_mode="multi", format_func=beat_name)
    cell_pickers(at, act)
    with st.container(horizontal=True):
        workbench_door(act.setup, "scene")
        button("present", talk.start, at)
        button("earlier", lambda: talk.take(talk.lecture().moved(at, at - 1), at - 1), off=at == 0)
        button("later", lambda: talk.take(talk.lecture().moved(at, at + 1), at + 1), off=at == count - 1)
        button("remove", lambda: talk.take(talk.lecture().removed(at), max(at - 1, 0)))
        button("replace", lambda: talk.take(talk.lecture().changed(at, setup=setup_state.current(), unread=())))


def written(at: int, name: str, value: object, widget: Callable, **how) -> None:
    """One part of a scene, in a widget."""
    key = f"c_scene_{name}"

    def changed() -> None:
        given = st.session_state[key]
        value = tuple(step for step in STEPS if step in given) if name == "steps" else given
        talk.take(talk.lecture().changed(at, **{name: value}))

    st.session_state[key] = value
    widget(say(f"present.desk.{name}"), key=key, on_change=changed, **how)


def with_cell(setup: Setup, step: str, cell: tuple[int, ...], dims: tuple[str, ...]) -> Setup:
    """A Setup with a cell opened; its query is looked at, and its head where one is."""
    place = dict(zip(dims, cell, strict=True))
    head = None if setup.head is None else place.get("H", setup.head)
    return replace(setup, step=step, cell=cell, token=place.get("T", setup.token), head=head)


def beat_name(step: str) -> str:
    """A step as the page calls it."""
    return say(f"present.beat.{step}")


def button(name: str, act: Callable, *args, off: bool = False) -> None:
    """One thing to do with a scene."""
    st.button(say(f"present.desk.{name}"), key=f"b_scene_{name}", on_click=act, args=args, disabled=off)


def cell_pickers(at: int, act: Act) -> None:
    """Which cell's arithmetic a scene shows."""
    try:
        trace = trace_of(act.setup)
    except AttentionError as error:
        st.error(sentence(error), icon=":material/error:")
        return
    steps = [*trace.computed()]
    step = act.setup.step if act.setup.step in steps else "weights"
    cell = act.setup.cell if act.setup.cell and trace.holds(step, act.setup.cell) else (0,) * trace[step].dim()

    def placed(new_step: str, new_cell: tuple[int, ...]) -> None:
        talk.take(talk.lecture().changed(at, setup=with_cell(act.setup, new_step, new_cell, trace.step(new_step).dims)))

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
