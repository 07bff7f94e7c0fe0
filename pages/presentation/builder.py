"""The editor of the visitor's own lecture: its title, and each scene's texts, minutes, steps and position."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from pages.export.page_links import link_to_workbench
from pages.lectures import lecture_session
from pages.lectures.scene_kinds import MODEL_STEPS, steps_of
from pages.lectures.script import MAX_SCENE_MINUTES, SCENE_TEXT_LIMITS, Scene
from pages.presentation.own_editor import show_own_editor
from pages.presentation.scene_cell import scene_cell_pickers
from pages.session import setup_state
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def title_box() -> None:
    """Shows the text box for the title of the visitor's own lecture."""

    def take_title() -> None:
        title = st.session_state["c_lecture_title"]
        lecture_session.take_lecture(replace(lecture_session.current_lecture(), title=title))

    st.session_state["c_lecture_title"] = lecture_session.current_lecture().title
    st.text_input(
        say("present.desk.title"),
        key="c_lecture_title",
        on_change=take_title,
        max_chars=SCENE_TEXT_LIMITS["title"],
    )


def scene_editor(index: int) -> None:
    """Shows the editor of a scene: its texts, minutes, content, steps, opened cell, and buttons."""
    scene = lecture_session.current_lecture().scenes[index]
    boxes = {"title": st.text_input, "note": st.text_area, "question": st.text_input}
    for name, box in boxes.items():
        edit_scene_part(index, name, getattr(scene, name), box, max_chars=SCENE_TEXT_LIMITS[name])
    edit_scene_part(
        index,
        "minutes",
        float(scene.minutes),
        st.number_input,
        min_value=0.0,
        max_value=float(MAX_SCENE_MINUTES),
        step=0.5,
        format="%g",
        width=160,
    )
    show_own_editor(index, scene.shown)
    if isinstance(scene.shown, Setup):
        step_picker(index, scene)
        scene_cell_pickers(index, scene)
    with st.container(horizontal=True):
        if scene.setup is not None:
            link_to_workbench(scene.setup, "scene")
        scene_buttons(index)


def step_picker(index: int, scene: Scene) -> None:
    """Shows the choice of steps of a scene that shows the workbench."""
    edit_scene_part(
        index,
        "steps",
        [step for step in scene.steps if step in steps_of(scene.shown)],
        st.pills,
        options=steps_of(scene.shown),
        selection_mode="multi",
        format_func=name_scene_step,
        wrap=True,  # into several rows on a phone
    )


def edit_scene_part(index: int, name: str, value: object, widget: Callable, **options) -> None:
    """Shows a widget that edits one part of a scene."""
    key = f"c_scene_{name}"

    def take_part() -> None:
        entered = st.session_state[key]
        if name == "steps":
            entered = tuple(step for step in MODEL_STEPS if step in entered)
        elif name == "minutes":
            entered = round(2 * entered) / 2  # to the nearest half, because any number can be typed
        change_scene(index, **{name: entered})

    st.session_state[key] = value
    widget(say(f"present.desk.{name}"), key=key, on_change=take_part, **options)


def name_scene_step(step: str) -> str:
    """The display name of a step."""
    return say(f"present.scene_step.{step}")


# ---- buttons of a scene ----------------------------------------------------------------------------------------------
def scene_buttons(index: int) -> None:
    """Shows the buttons that present a scene, move it, remove it, or replace its content by the workbench's."""
    last = len(lecture_session.current_lecture().scenes) - 1
    scene_button("present", lecture_session.start_lecture, index)
    scene_button("earlier", move_scene, index, index - 1, disabled=index == 0)
    scene_button("later", move_scene, index, index + 1, disabled=index == last)
    scene_button("remove", lecture_session.remove_scene, index)
    scene_button("replace", show_workbench_setup, index)


def scene_button(name: str, action: Callable, *args, disabled: bool = False) -> None:
    """Shows one button of a scene; a click calls `action` with these arguments."""
    st.button(say(f"present.desk.{name}"), key=f"b_scene_{name}", on_click=action, args=args, disabled=disabled)


def move_scene(index: int, new_index: int) -> None:
    """Moves a scene of the own lecture to another index; it stays selected."""
    lecture_session.take_lecture(lecture_session.current_lecture().moved(index, new_index), new_index)


def show_removed_scene() -> None:
    """Shows which scene was removed last, with an undo button, until the lecture is changed."""
    removal = lecture_session.find_removal()
    if removal is None:
        return
    title = printable_token(removal.before.scenes[removal.at].title) or "–"
    st.info(say("present.desk.removed", number=removal.at + 1, title=escape_markdown(title)))  # read by screen readers
    st.button(
        say("present.desk.undo"), key="undo_removal", icon=":material/undo:", on_click=lecture_session.restore_scene
    )


def show_put_away_lecture() -> None:
    """Shows which own lecture was replaced last, if any, and a button that swaps this lecture with the current one."""
    put_away = lecture_session.get_lecture_session().put_away
    if put_away is None:
        return
    title = escape_markdown(printable_token(put_away.title) or "–")
    with st.container(horizontal=True, vertical_alignment="center", key="put_away"):
        st.info(say("present.desk.put_away", title=title, count=len(put_away.scenes)))  # read by screen readers
        st.button(
            say("present.desk.bring_back"),
            key="bring_back",
            icon=":material/undo:",
            on_click=lecture_session.bring_back_lecture,
        )


def show_workbench_setup(index: int) -> None:
    """Replaces the content of a scene by the workbench's current Setup."""
    setup = setup_state.current_setup()
    change_scene(index, shown=setup, steps=steps_of(setup), unread=())


def change_scene(index: int, **parts) -> None:
    """Replaces the given fields of a scene of the open lecture."""
    lecture_session.take_lecture(lecture_session.current_lecture().changed(index, **parts))
