"""Shows the accordion in which one matrix at a time is edited: an input, or a head's mask, scores or weights.

Below the cells are buttons, a text input for the matrix as text, and an upload for a file.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from attention_core.inputs.files.matrix_file import choose_name, projection_of, read_matrix, read_matrix_file
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_edits import random_seed
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.inputs.matrix_values import REMOVED, ChangedCells
from attention_core.record.errors import AttentionError
from pages.panels import canvas_map
from pages.panels.file_box import MAX_UPLOAD_MB, file_box, name_array, say_unread
from pages.panels.input_origins import WHAT_IF_STEPS, describe_origins, get_head_numbers
from pages.panels.setup_controls import field_control, show_refusal, try_change
from pages.panels.typed_cells import list_given_matrices
from pages.runs.compute import ONE_ROW_MATRICES
from pages.runs.sentences import BIASES, PROJECTIONS
from pages.session import setup_state
from pages.session.entered_values import when_entered
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.link_values import MAX_LINK_NUMBER
from pages.site.controls import EDITED_KEY
from pages.site.words import has, label_arrays, say, typeset_matrix_names
from pages.workbench.input_controls import format_matrix_rows, list_text_matrices
from pages.workbench.matrix_cells import cell_editor, locate_head
from pages.workbench.matrix_changes import (
    PAIR_MATRICES,
    MatrixReader,
    editor_control_name,
    get_matrix_and_base,
    import_control_name,
    replace_matrix,
    replace_value,
    restore_matrix,
)

# matrix -> what it projects to after a swap of Q and K
SWAPPED_READERS = {"w_q": "K", "w_k": "Q", "b_q": "K", "b_k": "Q"}
MATRIX_FILE_TYPES = ["csv", "tsv", "txt", "npy", "npz", "json"]
MAX_PASTED_NUMBERS = 4096  # most numbers of a matrix that the text input shows


@page_part(lambda screen: describe_origins(screen.setup, screen.inputs))
def show_origins(screen: ScreenState) -> None:
    """Shows the text on the origin of the run's numbers."""
    st.caption(typeset_matrix_names(describe_origins(screen.setup, screen.inputs)))


def editors_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the matrix editors depend: the run, the selection and the choices in the editors."""
    session = st.session_state
    name = session.get(EDITED_KEY)
    return (
        screen.setup.run,
        screen.selection,
        setup_state.editors_version(),
        name,
        session.get(f"c_row_{name}"),
        session.get(f"c_column_{name}"),
    )


@page_part(editors_dependencies)
def show_editors(screen: ScreenState) -> None:
    """Shows the choice of a matrix, and the editor of the chosen matrix."""
    name = choose_matrix(screen)
    setup_state.write_panel()
    matrix, base = get_matrix_and_base(screen, name)
    st.caption(describe_matrix(screen, name, matrix))
    if name == "allowed":
        canvas_map.show_paintable_mask(
            screen.trace,
            matrix,
            lambda painted: replace_matrix(screen, name, lambda: painted),
        )
    elif matrix is not None:
        cell_editor(screen, name, matrix)
    show_refusal(editor_control_name(name))
    editor_buttons(screen, name, matrix, base)
    with st.container(horizontal=True):
        if name not in list_text_matrices(screen.setup):  # the text of such a matrix is shown above
            paste_box(screen, name, matrix)
        upload_box(screen, name)
    show_refusal(import_control_name(name), lambda text: take_matrix_text(screen, name, text))


def choose_matrix(screen: ScreenState) -> str:
    """Shows the choice of a matrix and returns the chosen name; the default is a given X, else W_q if there is one."""
    names = list_editable_matrices(screen)
    if st.session_state.get(EDITED_KEY) not in names:
        wanted = "x" if screen.setup.run.x is not None else "w_q"
        st.session_state[EDITED_KEY] = wanted if wanted in names else names[0]
    return st.segmented_control(
        say("editor.which"),
        names,
        format_func=name_matrix,
        key=EDITED_KEY,
        required=True,
        label_visibility="collapsed",
    )


def list_editable_matrices(screen: ScreenState) -> list[str]:
    """Returns the names of all editable matrices: the run's inputs, biases that can be added, and PAIR_MATRICES."""
    inputs = screen.inputs
    names = list_given_matrices(inputs)
    for bias in BIASES:
        projection = bias.replace("b_", "w_")
        if bias not in inputs.origins and projection in inputs.matrices:
            names.append(bias)
    return [*names, *PAIR_MATRICES]


# ---- in words --------------------------------------------------------------------------------------------------------
def describe_matrix(screen: ScreenState, name: str, matrix: np.ndarray | None) -> str:
    """Returns the description of a matrix: its shape, the origin of its numbers, and how the layer uses it."""
    if name in PAIR_MATRICES:
        return say(f"edited.about_{name}", head=screen.selection.head + 1)
    origins = screen.inputs.origins
    if matrix is None:
        return say("editor.removed" if name in origins else "editor.absent", name=name)
    seed = screen.inputs.seeds.get(name)
    text = say(
        f"origin.matrix.{origins[name]}",
        name=name if seed is None else say("origin.seeded", name=name, seed=seed),
        shape=" × ".join(map(str, matrix.shape)),
    )
    return text + describe_wiring_of_matrix(screen.setup.run.wiring, name)


def describe_wiring_of_matrix(wiring: tuple[str, ...], name: str) -> str:
    """Returns the sentence that W_q is used instead of this matrix, or that this matrix projects to K or Q.

    Returns "" if the layer uses the matrix as usual. wiring: the chosen wiring options.
    """
    if "tied" in wiring and name in ("w_k", "w_v"):
        return say("editor.tied", name=name)
    if "swapped" in wiring and name in SWAPPED_READERS:
        return say("editor.swapped", name=name, reader=SWAPPED_READERS[name])
    return ""


# ---- a matrix as text or as a file -----------------------------------------------------------------------------------
def name_matrix(name: str) -> str:
    """Returns the display name of a matrix."""
    return say(f"edited.{name}") if name in PAIR_MATRICES else name


def paste_box(screen: ScreenState, name: str, matrix: np.ndarray | None) -> None:
    """Shows the text input with the matrix as text, to copy or replace; it is empty if the matrix is large."""
    is_large = matrix is not None and matrix.size > MAX_PASTED_NUMBERS
    text = "" if is_large else format_matrix_rows(matrix)
    box = f"p_{name}_{locate_head(screen, name)}_{setup_state.editors_version()}"
    control = field_control(import_control_name(name), text, partial(take_matrix_text, screen, name), box).moved()
    label = say("control.matrix", name=name_matrix(name))
    control.draw(st.text_area, label=label, height=120, help=say("help.matrix"))


def take_matrix_text(screen: ScreenState, name: str, text: str) -> None:
    """Replaces a matrix by the numbers in a typed or pasted text, or stores the error."""
    replace_matrix(screen, name, lambda: parse_matrix(text, name), import_control_name(name))


def upload_box(screen: ScreenState, name: str) -> None:
    """Shows the upload for a file with a matrix; if the file has several arrays, the visitor chooses one of them."""
    key = f"u_{name}_{setup_state.editors_version()}"
    control = import_control_name(name)

    def take_file(file: UploadedFile | None) -> None:
        if file is not None:
            replace_matrix(screen, name, lambda: read_matrix(file.name, file.getvalue(), name), control)

    with st.container():
        file_box(
            say("control.upload", name=name_matrix(name)),
            MATRIX_FILE_TYPES,
            key,
            on_change=when_entered(key, take_file),
            max_upload_size=MAX_UPLOAD_MB,
        )
        refusal = setup_state.workbench().refused.get(control)
        if st.session_state.get(key) is not None and refusal is not None and refusal.code == "which_array":
            array_choice(screen, name, key)
        elif st.session_state.get(key) is not None and refusal is None:
            show_matrix_line(st.session_state[key], name, st.session_state.get(f"{key}_array"))


def show_matrix_line(file: UploadedFile, name: str, array: str | None) -> None:
    """Shows which array of the file is the matrix, whether it was transposed, and which arrays were ignored.

    Shows nothing if the file cannot be read. array: the name of the array that the visitor chose; None if the
    visitor chose none, because one array has the matrix's name or is the only one.
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
    """Shows the choice of the array in a file that replaces the matrix.

    key: the key of the uploader.
    """
    array_key = f"{key}_array"

    def take_array(array: str | None) -> None:
        file = st.session_state.get(key)
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
        on_change=when_entered(array_key, take_array),
        index=None,
        placeholder="–",
        format_func=label_arrays(arrays).__getitem__,
    )


# ---- buttons ---------------------------------------------------------------------------------------------------------
def editor_buttons(screen: ScreenState, name: str, matrix: np.ndarray | None, base: np.ndarray | None) -> None:
    """Shows the buttons of a matrix: identity, zeros, random, none and reset.

    If the default is random, there is also a button for another seed. base: the matrix without the visitor's changes.
    """
    shape = find_new_shape(screen, name, matrix)
    is_mask = name == "allowed"
    with st.container(horizontal=True):
        if shape[0] > 1:
            label = say("editor.mask_identity" if is_mask else "editor.identity")
            show_button("identity", name, label, replace_matrix, screen, name, lambda: np.eye(*shape))
        label = say("editor.mask_zeros" if is_mask else "editor.zeros")
        show_button("zeros", name, label, replace_matrix, screen, name, lambda: np.zeros(shape))
        if is_mask:
            show_button("ones", name, say("editor.ones"), replace_matrix, screen, name, lambda: np.ones(shape))
        else:
            random_button(screen, name, shape, has_base=base is not None)
        if name in PROJECTIONS + BIASES and matrix is not None:
            show_button("none", name, say("editor.remove"), replace_value, name, REMOVED)
        is_edited = getattr(screen.setup.run, name) is not None
        show_button("reset", name, say("editor.reset"), restore_matrix, screen, name, disabled=not is_edited)
        if is_random_unasked(screen):
            seed_button(screen, name)


def show_button(
    kind: str, name: str, label: str, handle_click: Callable, *args, disabled: bool = False, **kwargs
) -> None:
    """Shows a button of a matrix, with a help text if its kind has one.

    args, kwargs: the arguments that are passed to `handle_click`.
    """
    help_key = f"help.{kind}"
    st.button(
        label,
        key=f"b_{kind}_{name}",
        on_click=handle_click,
        args=args,
        kwargs=kwargs,
        help=say(help_key) if has(help_key) else None,
        disabled=disabled,
    )


def find_new_shape(screen: ScreenState, name: str, matrix: np.ndarray | None) -> tuple[int, int]:
    """Returns the shape for a new matrix: the present matrix's if there is one, else the default's.

    A new bias is a row as wide as its projection.
    """
    if matrix is not None:
        return matrix.shape
    projection = screen.inputs.matrices.get(name.replace("b_", "w_"))
    model = screen.inputs.bases.get(name, projection)
    if name in ONE_ROW_MATRICES:
        return (1, model.shape[1])
    return model.shape


# ---- random numbers --------------------------------------------------------------------------------------------------
def random_button(screen: ScreenState, name: str, shape: tuple[int, int], has_base: bool) -> None:
    """Shows the button that fills a matrix with random numbers, stored as their seed if possible, else as numbers."""
    last_seed = random_seed(getattr(screen.setup.run, name))
    seed = screen.setup.run.seed if last_seed is None else next_seed(last_seed)
    label = say("editor.random")
    if name not in WHAT_IF_STEPS and (has_base or name in BIASES):
        show_button("random", name, label, replace_value, name, ChangedCells(seed))
        return
    read = make_random_reader(screen, name, shape, seed)
    show_button("random", name, label, replace_matrix, screen, name, read)


def make_random_reader(screen: ScreenState, name: str, shape: tuple[int, int], seed: int) -> MatrixReader:
    """Returns a function that samples random numbers for a matrix.

    For scores and weights these numbers differ from the current ones; if they are equal, the next seed is used.
    """

    def draw_matrix() -> np.ndarray:
        drawn = random_matrix(name, shape, seed)
        if name not in WHAT_IF_STEPS:
            return drawn
        used, _ = get_head_numbers(screen, name)
        if np.array_equal(used, drawn):
            return random_matrix(name, shape, next_seed(seed))
        return drawn

    return draw_matrix


def is_random_unasked(screen: ScreenState) -> bool:
    """Returns whether some words or matrices are random, and depend on the Setup's seed, because the visitor did not
    give them.
    """
    if screen.inputs.random_words():
        return True
    random_matrices = [name for name, origin in screen.inputs.origins.items() if origin == "random"]
    return any(getattr(screen.setup.run, name) is None for name in random_matrices)


def seed_button(screen: ScreenState, name: str) -> None:
    """Shows the button that takes the next seed for all words and matrices that the visitor did not give."""
    seed = screen.setup.run.seed
    show_button(
        "seed",
        name,
        say("editor.seed", seed=seed),
        try_change,
        editor_control_name(name),
        seed=next_seed(seed),
    )


def next_seed(seed: int) -> int:
    """Returns the next seed, which is 0 after the largest seed that a link can contain."""
    return (seed + 1) % (MAX_LINK_NUMBER + 1)
