"""Shows the editor of the visitor's own lecture: title, new scenes, and the content, texts and steps of each scene."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core import Trace
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.export.page_links import link_to_workbench
from pages.lectures import lecture_session
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.picture import MAX_PICTURE_BYTES, MAX_PICTURE_WORDS_CHARS, OwnPicture, check_picture
from pages.lectures.kinds.text import MAX_OWN_TEXT_CHARS, OwnText
from pages.lectures.scene_kinds import MODEL_STEPS, SceneContent, steps_of
from pages.lectures.script import MAX_SCENE_MINUTES, SCENE_TEXT_LIMITS, Scene
from pages.panels.file_box import MAX_UPLOAD_MB, file_box
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.entered_values import when_entered
from pages.session.labels import axis_name, place_names
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_refusal

TEXT_HEIGHT_PX = 200  # px: height of the text input for a scene's text


def title_box() -> None:
    """Shows the text input for the title of the visitor's own lecture."""

    def take_title(title: str) -> None:
        lecture_session.take_lecture(replace(lecture_session.current_lecture(), title=title))

    st.session_state["c_lecture_title"] = lecture_session.current_lecture().title
    st.text_input(
        say("present.desk.title"),
        key="c_lecture_title",
        on_change=when_entered("c_lecture_title", take_title),
        max_chars=SCENE_TEXT_LIMITS["title"],
    )


def scene_editor(index: int) -> None:
    """Shows the editor of one scene of a lecture: its texts, minutes, content, steps, opened cell, and buttons."""
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
    """Shows the choice of the steps that a workbench scene shows one after the other."""
    edit_scene_part(
        index,
        "steps",
        [step for step in scene.steps if step in steps_of(scene.shown)],
        st.pills,
        options=steps_of(scene.shown),
        selection_mode="multi",
        format_func=name_scene_step,
        wrap=True,  # wrap=True: on a phone, the steps take several rows
    )


def edit_scene_part(index: int, name: str, value: object, widget: Callable, **options) -> None:
    """Shows a widget that edits one field of a scene, such as its title, and stores what the visitor enters.

    value: the field's current value. widget: the Streamlit function that draws the widget.
    """
    key = f"c_scene_{name}"

    def take_part(entered: object) -> None:
        if name == "steps":
            entered = tuple(step for step in MODEL_STEPS if step in entered)
        elif name == "minutes":
            # the number is rounded to half a minute, because the input accepts any number
            entered = round(2 * entered) / 2
        change_scene(index, **{name: entered})

    st.session_state[key] = value
    widget(say(f"present.desk.{name}"), key=key, on_change=when_entered(key, take_part), **options)


def name_scene_step(step: str) -> str:
    """Returns the display name of a step."""
    return say(f"present.scene_step.{step}")


# ---- buttons of a scene ----------------------------------------------------------------------------------------------
def scene_buttons(index: int) -> None:
    """Shows the buttons that present, move or remove a scene, or replace its content by the workbench's current
    Setup.
    """
    last = len(lecture_session.current_lecture().scenes) - 1
    scene_button("present", lecture_session.start_lecture, index)
    scene_button("earlier", move_scene, index, index - 1, disabled=index == 0)
    scene_button("later", move_scene, index, index + 1, disabled=index == last)
    scene_button("remove", lecture_session.remove_scene, index)
    scene_button("replace", show_workbench_setup, index)


def scene_button(name: str, action: Callable, *args, disabled: bool = False) -> None:
    """Shows one button of a scene's editor; a click calls `action` with the arguments `args`."""
    st.button(say(f"present.desk.{name}"), key=f"b_scene_{name}", on_click=action, args=args, disabled=disabled)


def move_scene(index: int, new_index: int) -> None:
    """Moves a scene of the visitor's own lecture from one index to another; the scene stays selected."""
    lecture_session.take_lecture(lecture_session.current_lecture().moved(index, new_index), new_index)


def show_removed_scene() -> None:
    """Shows which scene was removed last, with an undo button, until the lecture is changed again."""
    removal = lecture_session.find_removal()
    if removal is None:
        return
    title = printable_token(removal.before.scenes[removal.at].title) or "–"
    # the message is a text, so that screen readers read it, too
    st.info(say("present.desk.removed", number=removal.at + 1, title=escape_markdown(title)))
    st.button(
        say("present.desk.undo"), key="undo_removal", icon=":material/undo:", on_click=lecture_session.restore_scene
    )


def show_put_away_lecture() -> None:
    """Shows which of the visitor's own lectures was replaced last, with a button that swaps it with the current one.

    Shows nothing if none was replaced.
    """
    put_away = lecture_session.get_lecture_session().put_away
    if put_away is None:
        return
    title = escape_markdown(printable_token(put_away.title) or "–")
    with st.container(horizontal=True, vertical_alignment="center", key="put_away"):
        # the message is a text, so that screen readers read it
        st.info(say("present.desk.put_away", title=title, count=len(put_away.scenes)))
        st.button(
            say("present.desk.bring_back"),
            key="bring_back",
            icon=":material/undo:",
            on_click=lecture_session.bring_back_lecture,
        )


def show_workbench_setup(index: int) -> None:
    """Replaces the content of a scene of the lecture by the workbench's current Setup."""
    setup = setup_state.current_setup()
    change_scene(index, shown=setup, steps=steps_of(setup), unread=())


def change_scene(index: int, **parts) -> None:
    """Replaces the given fields of one scene of the current lecture, and stores the changed lecture."""
    lecture_session.take_lecture(lecture_session.current_lecture().changed(index, **parts))


# ---- the cell that a scene opens -------------------------------------------------------------------------------------
def scene_cell_pickers(index: int, scene: Scene) -> None:
    """Shows the choice of the step and the cell that a workbench scene opens.

    If the scene's run cannot be computed, the reason is shown instead. index: the index of the scene.
    """
    try:
        trace = trace_for(scene.setup)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    step, cell = get_scene_cell(trace, scene.setup)

    def take_cell(new_step: str, new_cell: tuple[int, ...]) -> None:
        axes = trace.step(new_step).dims
        change_scene(index, shown=with_opened_cell(scene.setup, new_step, new_cell, axes))

    def take_step(chosen_step: str) -> None:
        if chosen_step in trace:
            take_cell(chosen_step, (0,) * trace[chosen_step].dim())

    def take_place(_: int) -> None:
        places = [st.session_state.get(f"c_scene_axis_{axis}", place) for axis, place in enumerate(cell)]
        chosen_cell = tuple(places)
        if trace.holds(step, chosen_cell):
            take_cell(step, chosen_cell)

    with st.container(horizontal=True):
        st.session_state["c_scene_step"] = step
        st.selectbox(
            say("present.desk.cell"),
            list(trace.computed()),
            key="c_scene_step",
            on_change=when_entered("c_scene_step", take_step),
            width=200,
        )
        place_pickers(trace, step, cell, take_place)


def get_scene_cell(trace: Trace, setup: Setup) -> tuple[str, tuple[int, ...]]:
    """Returns the step and the cell that a Setup opens; if it opens none, the weights and their first cell."""
    step = setup.view.step
    if step not in trace.computed():
        step = "weights"
    if setup.view.cell and trace.holds(step, setup.view.cell):
        return step, setup.view.cell
    first_cell = (0,) * trace[step].dim()
    return step, first_cell


def place_pickers(trace: Trace, step: str, cell: tuple[int, ...], take_place: Callable[[int], None]) -> None:
    """Shows the choice of a cell of a step: one select box for the index on each axis that is longer than 1.

    take_place: a callback that gets the chosen index.
    """
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
            on_change=when_entered(key, take_place),
            width=130,
        )


def with_opened_cell(setup: Setup, step: str, cell: tuple[int, ...], axes: tuple[str, ...]) -> Setup:
    """Returns a copy of a Setup in which a cell is opened and the query of the cell is selected.

    If the Setup selects a head, the copy selects the cell's head instead.
    """
    places = dict(zip(axes, cell, strict=True))
    token = places.get("T", setup.view.token)
    head = setup.view.head
    if head is not None:
        head = places.get("H", head)
    return setup.with_fields(step=step, cell=cell, token=token, head=head)


# ---- texts, pictures, code -------------------------------------------------------------------------------------------
def show_own_scene_makers() -> None:
    """Shows the controls that add the visitor's own scenes: a button for a text, and a file upload for a picture."""
    st.button(say("present.desk.add_text"), key="add_text", icon=":material/notes:", on_click=add_text_scene)
    key = f"c_picture_{setup_state.editors_version()}"

    def take_picture(upload: UploadedFile | None) -> None:
        if upload is not None:
            add_picture_scene(upload.getvalue(), upload.name)

    label = say("present.desk.add_picture", limit=MAX_PICTURE_BYTES // 1000)
    on_change = when_entered(key, take_picture)
    file_box(label, ["png", "jpg", "jpeg"], key, on_change=on_change, max_upload_size=MAX_UPLOAD_MB)


def add_text_scene() -> None:
    """Adds a scene with a placeholder text to the visitor's own lecture."""
    words = OwnText(say("present.desk.first_words"))
    lecture_session.add_scene(lecture_session.make_scene(words, say("present.scene_step.text")))


def add_picture_scene(data: bytes, name: str) -> None:
    """Adds a scene with an uploaded picture, with the file's name as title; if the picture is refused, stores the
    error.
    """
    try:
        check_picture(data)
    except AttentionError as error:
        lecture_session.get_lecture_session().refuse(lecture_session.LECTURE_CONTROL, error)
        return
    title, _, _ = name.rpartition(".")
    lecture_session.add_scene(lecture_session.make_scene(OwnPicture(data), title))
    setup_state.renew_editors()


def show_own_editor(index: int, shown: SceneContent) -> None:
    """Shows the editor of a scene's own content: its text, or the alternative text and the source of its picture.

    For a Setup it shows the button that adds a scene with its code. index: the index of the scene.
    """
    match shown:
        case OwnText():
            options = {"max_chars": MAX_OWN_TEXT_CHARS, "height": TEXT_HEIGHT_PX}
            edit_shown_part(index, shown, "text", st.text_area, **options)
        case OwnPicture():
            st.image(shown.data, width=240, alt=shown.alt)
            for name in ("alt", "source"):
                edit_shown_part(index, shown, name, st.text_input, max_chars=MAX_PICTURE_WORDS_CHARS)
        case Setup():
            st.button(say("present.desk.add_code"), key="add_code", on_click=add_code_scene, args=(shown,))


def edit_shown_part(index: int, shown: SceneContent, name: str, widget: Callable, **options) -> None:
    """Shows a widget that edits one field of a scene's content, and stores what the visitor enters.

    index: the index of the scene. name: the name of the field. widget: the Streamlit function that draws the widget.
    """
    key = f"c_shown_{name}"

    def take_part(entered: str) -> None:
        change_scene(index, shown=replace(shown, **{name: entered}))

    st.session_state[key] = getattr(shown, name)
    widget(say(f"present.desk.shown_{name}"), key=key, on_change=when_entered(key, take_part), **options)


def add_code_scene(setup: Setup) -> None:
    """Adds a scene that shows the code of the step that a Setup opens."""
    title = say("present.desk.code_title", step=setup.view.step or "weights")
    lecture_session.add_scene(lecture_session.make_scene(RunCode(setup), title))
