"""The boxes in which a whole matrix is pasted as text or uploaded as a file."""

from functools import partial

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.matrix_file import choose_name, projection_of, read_matrix, read_matrix_file
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.record.errors import AttentionError
from pages.panels.file_box import MAX_UPLOAD_MB, file_box, name_array, say_unread
from pages.panels.setup_controls import field_control
from pages.session import setup_state
from pages.session.view import ScreenState
from pages.site.words import label_arrays, say
from pages.workbench.input_controls import format_matrix_rows
from pages.workbench.matrix_cells import locate_head
from pages.workbench.matrix_changes import PAIR_MATRICES, import_control_name, replace_matrix

MATRIX_FILE_TYPES = ["csv", "tsv", "txt", "npy", "npz", "json"]
MAX_PASTED_NUMBERS = 4096  # a matrix with more numbers is not written into the text box


def name_matrix(name: str) -> str:
    """Returns the display name of a matrix."""
    return say(f"edited.{name}") if name in PAIR_MATRICES else name


def paste_box(screen: ScreenState, name: str, matrix: np.ndarray | None) -> None:
    """Shows the matrix as text that can be copied and replaced; the box is empty if the matrix is large."""
    is_large = matrix is not None and matrix.size > MAX_PASTED_NUMBERS
    text = "" if is_large else format_matrix_rows(matrix)
    box = f"p_{name}_{locate_head(screen, name)}_{setup_state.editors_version()}"
    control = field_control(import_control_name(name), text, partial(take_matrix_text, screen, name), box).moved()
    label = say("control.matrix", name=name_matrix(name))
    control.draw(st.text_area, label=label, height=120, help=say("help.matrix"))


def take_matrix_text(screen: ScreenState, name: str, text: str) -> None:
    """Replaces the matrix by the numbers of a text, or stores the refusal."""
    replace_matrix(screen, name, lambda: parse_matrix(text, name), import_control_name(name))


def upload_box(screen: ScreenState, name: str) -> None:
    """Shows the uploader for a matrix, with a choice of an array if the file has several."""
    key = f"u_{name}_{setup_state.editors_version()}"
    control = import_control_name(name)

    def take_file() -> None:
        file = st.session_state[key]
        if file is not None:
            replace_matrix(screen, name, lambda: read_matrix(file.name, file.getvalue(), name), control)

    with st.container():
        file_box(
            say("control.upload", name=name_matrix(name)),
            MATRIX_FILE_TYPES,
            key,
            on_change=take_file,
            max_upload_size=MAX_UPLOAD_MB,
        )
        refusal = setup_state.workbench().refused.get(control)
        if st.session_state.get(key) is not None and refusal is not None and refusal.code == "which_array":
            array_choice(screen, name, key)
        elif st.session_state.get(key) is not None and refusal is None:
            show_matrix_line(st.session_state[key], name, st.session_state.get(f"{key}_array"))


def show_matrix_line(file: UploadedFile, name: str, array: str | None) -> None:
    """Shows which array of the file is the matrix, whether it was transposed, and which arrays were not read; returns
    early if the file cannot be read. array: the name of the chosen one.
    """
    try:
        contents = read_matrix_file(file.name, file.getvalue())
        arrays = contents.arrays
        chosen = choose_name(file.name, arrays, name, array)
    except AttentionError:
        return
    how = projection_of(chosen, name)
    role = say(f"brought.matrix.{how}", name=name_matrix(name)) if how else name_matrix(name)
    line = say("brought.read", arrays=say("brought.as", array=name_array(chosen, arrays[chosen].shape), role=role))
    unread = [(other, given.shape) for other, given in arrays.items() if other != chosen]
    others = {**dict.fromkeys(contents.texts), **contents.unread}
    st.caption(line + say_unread([*unread, *others.items()]))


def array_choice(screen: ScreenState, name: str, key: str) -> None:
    """Shows the choice of the array of a file that is the matrix. key: of the uploader."""
    array_key = f"{key}_array"

    def take_array() -> None:
        file = st.session_state[key]
        array = st.session_state[array_key]
        if file is None or array is None:
            return
        replace_matrix(
            screen,
            name,
            lambda: read_matrix(file.name, file.getvalue(), name, array),
            import_control_name(name),
        )

    file = st.session_state[key]
    arrays = list(read_matrix_file(file.name, file.getvalue()).arrays)
    st.selectbox(
        say("control.array"),
        arrays,
        key=array_key,
        on_change=take_array,
        index=None,
        placeholder="–",
        format_func=label_arrays(arrays).__getitem__,
    )
