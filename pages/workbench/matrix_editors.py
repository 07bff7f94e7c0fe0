"""Matrices in cells: edit, paste, identity, zeros, random, reset; a head's scores and weights too, for what if."""

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.inputs.files.uploads import read_arrays, read_matrix
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_edits import random_seed, to_short_text
from attention_core.inputs.matrix_text import parse_matrix, read_cell, to_text
from attention_core.record.errors import AttentionError
from pages.panels import canvas_map, input_origins
from pages.panels.input_origins import describe_origins
from pages.panels.setup_controls import mirror_field, show_refusal, take_made_change, try_change
from pages.runs.compute import ONE_ROW_MATRICES
from pages.runs.sentences import BIASES, PROJECTIONS
from pages.session import setup_state
from pages.session.fragments import page_part, redraw
from pages.session.labels import axis_label
from pages.session.view import ScreenState
from pages.setup.link_values import MAX_LINK_NUMBER
from pages.setup.setup import without_view
from pages.site.words import has, label_arrays, say
from pages.workbench.input_controls import format_matrix_rows

MAX_WHOLE_MATRIX_SIDE = 64  # rows or columns of a matrix that stands in cells as a whole
EDITOR_WINDOW_SIDE = 16  # rows and columns of the part of a larger one

PAIR_MATRICES = (*input_origins.WHAT_IF_STEPS, "allowed")  # what is edited about pairs of tokens
MATRIX_FILE_TYPES = ["csv", "tsv", "txt", "npy", "npz", "json"]

MatrixReader = Callable[[], np.ndarray]


EDITORS_DRAWER_KEY = "editors"


def editors_dependencies(scene: ScreenState) -> tuple[object, ...]:
    """Of the run no more than where its numbers come from, while the drawer is closed."""
    session, told = st.session_state, describe_origins(scene.setup, scene.inputs)
    if not session.get(EDITORS_DRAWER_KEY):
        return (told,)
    name = session.get("c_edited")
    part = (session.get(f"c_row_{name}"), session.get(f"c_column_{name}"))
    return (told, without_view(scene.setup), scene.look, setup_state.editors_version(), name, *part)


@page_part(editors_dependencies)
def show_editors(scene: ScreenState) -> None:
    """Where the numbers come from; the drawer in which they are changed."""
    st.caption(describe_origins(scene.setup, scene.inputs))
    drawer = st.expander(say("editor.title"), icon=":material/edit:", key=EDITORS_DRAWER_KEY, on_change="rerun")
    if drawer.open:
        with drawer:
            show_matrix_editor(scene)


def show_matrix_editor(scene: ScreenState) -> None:
    """One of the run's matrices at a time."""
    names = list_editable_matrices(scene)
    if st.session_state.get("c_edited") not in names:
        st.session_state["c_edited"] = "w_q" if "w_q" in names else names[0]
    name = st.segmented_control(
        say("editor.which"),
        names,
        format_func=name_matrix,
        key="c_edited",
        required=True,
        label_visibility="collapsed",
    )
    matrix, base = get_matrix_and_base(scene, name)
    st.caption(describe_matrix(scene, name, matrix))
    if name == "allowed":
        canvas_map.show_paintable_mask(scene.trace, matrix, lambda new: replace_matrix(scene, name, lambda: new))
    elif matrix is not None:
        cell_editor(scene, name, matrix)
    show_refusal(editor_control_name(name))
    editor_buttons(scene, name, matrix, base)
    with st.container(horizontal=True):
        paste_box(scene, name, matrix)
        upload_box(scene, name)
    show_refusal(import_control_name(name))


def list_editable_matrices(scene: ScreenState) -> list[str]:
    """What there is to edit: the matrices of the run, biases that could be there, and the head's scores and weights."""
    made = scene.inputs.origins
    hidden = {"allowed", *(["x"] if scene.inputs.batch else [])}
    names = [name for name, origin in made.items() if name not in hidden and origin != "brought"]
    biases = [name for name in BIASES if name not in made and name.replace("b_", "w_") in scene.inputs.matrices]
    return [*names, *biases, *PAIR_MATRICES]


def name_matrix(name: str) -> str:
    """A matrix as the page calls it."""
    return say(f"edited.{name}") if name in PAIR_MATRICES else name


def get_matrix_and_base(scene: ScreenState, name: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """A matrix as it is, and as it was before anybody changed it; None where there is none."""
    if name in input_origins.WHAT_IF_STEPS:
        return input_origins.get_head_numbers(scene, name)
    if name == "allowed":
        sizes = scene.trace.sizes()
        everybody = np.ones((sizes["T"], sizes["S"]))
        return scene.inputs.matrices.get(name, everybody), everybody
    return scene.inputs.matrices.get(name), scene.inputs.bases.get(name)


def describe_matrix(scene: ScreenState, name: str, matrix: np.ndarray | None) -> str:
    """What a matrix is: its shape, where its numbers come from, and what reads another one in its place."""
    if name in PAIR_MATRICES:
        return say(f"edited.about_{name}", head=scene.look.head + 1)
    if matrix is None:
        return say("editor.removed" if name in scene.inputs.origins else "editor.absent", name=name)
    shape, seed = " × ".join(map(str, matrix.shape)), scene.inputs.seeds.get(name)
    called = name if seed is None else say("origin.seeded", name=name, seed=seed)
    text = say(f"origin.matrix.{scene.inputs.origins[name]}", name=called, shape=shape)
    wiring = scene.setup.wiring
    if "tied" in wiring and name in ("w_k", "w_v"):
        return text + say("editor.tied", name=name)
    swapped = {"w_q": "K", "w_k": "Q", "b_q": "K", "b_k": "Q"}.get(name)
    return text + say("editor.swapped", name=name, reader=swapped) if "swapped" in wiring and swapped else text


def editor_control_name(name: str) -> str:
    """The editor of a matrix as a place of refusals: another one than the sidebar's box for the same matrix."""
    return f"edit_{name}"


def import_control_name(name: str) -> str:
    """Where a whole matrix is pasted or uploaded, as a place of refusals: below, so that nothing is pushed away."""
    return f"given_{name}"


# ---- taking a matrix -------------------------------------------------------------------------------------------------
def take_matrix(scene: ScreenState, name: str, read: MatrixReader, place: str) -> None:
    """Takes the matrix that `read` gives, or keeps its refusal for a place."""
    take_made_change(place, lambda: make_matrix_change(scene, name, read()))


def make_matrix_change(scene: ScreenState, name: str, matrix: np.ndarray) -> dict[str, str | None]:
    """The change of the Setup by which a matrix has these numbers."""
    base = get_matrix_and_base(scene, name)[1]
    if name in PAIR_MATRICES and matrix.shape != base.shape:
        raise AttentionError("shape_fits_scores", name=name, expected=base.shape, shape=matrix.shape)
    return (
        input_origins.make_what_if_change(scene, name, matrix)
        if name in input_origins.WHAT_IF_STEPS
        else {name: to_short_text(matrix, base, name)}
    )


def replace_matrix(scene: ScreenState, name: str, read: MatrixReader, place: str | None = None) -> None:
    """Takes another matrix, and the cells show it. place: of its refusal, where that is not the cells'."""
    take_matrix(scene, name, read, place or editor_control_name(name))
    renew_matrix_cells(place or editor_control_name(name))
    redraw()


def replace_text(name: str, text: str | None) -> None:
    """Takes another matrix by its link form."""
    take_made_change(editor_control_name(name), lambda: {name: text})
    renew_matrix_cells(editor_control_name(name))
    redraw()


def restore_matrix(scene: ScreenState, name: str) -> None:
    """The matrix as it was before anybody changed it; of scores and weights those of this head."""
    take_made_change(
        editor_control_name(name),
        lambda: (
            input_origins.make_what_if_change(scene, name, None)
            if name in input_origins.WHAT_IF_STEPS
            else {name: None}
        ),
    )
    renew_matrix_cells(editor_control_name(name))
    redraw()


def renew_matrix_cells(place: str) -> None:
    """The grid and the paste box forget what was typed into them, unless it was refused at this place."""
    if setup_state.get_refusal(place) is None:
        setup_state.renew_editors()


# ---- the cells -------------------------------------------------------------------------------------------------------
def choose_editor_window(name: str, matrix: np.ndarray) -> tuple[slice, slice]:
    """The rows and columns that stand in cells: all, or of a large matrix the part that is asked for."""
    rows, columns = matrix.shape
    if max(matrix.shape) <= MAX_WHOLE_MATRIX_SIDE:
        return slice(0, rows), slice(0, columns)
    st.caption(say("editor.corner", rows=min(EDITOR_WINDOW_SIDE, rows), columns=min(EDITOR_WINDOW_SIDE, columns)))
    with st.container(horizontal=True):
        firsts = [
            st.number_input(
                say(f"editor.first_{axis}"), 1, max(size - EDITOR_WINDOW_SIDE, 0) + 1, key=f"c_{axis}_{name}", width=140
            )
            for axis, size in (("row", rows), ("column", columns))
        ]
    return slice(firsts[0] - 1, firsts[0] - 1 + EDITOR_WINDOW_SIDE), slice(
        firsts[1] - 1, firsts[1] - 1 + EDITOR_WINDOW_SIDE
    )


def make_axis_headings(trace: Trace, name: str, axis: int, first: int, count: int) -> list[str]:
    """Numbers from 1, with what the row or column stands for where that has a name: a token, a head."""
    dims = trace.step(name).dims if name in trace else ()
    dim = dims[axis] if len(dims) == 2 or name in input_origins.WHAT_IF_STEPS else ""
    places = range(first, first + count)
    if dim in trace.labels and len(trace.labels[dim]) >= first + count:
        return [f"{n + 1} {axis_label(trace, dim, n)}" for n in places]
    heads, cut, _ = dim.partition("·")  # H·d_k: the columns of all heads side by side
    if cut and trace.sizes()[heads] > 1:
        width = trace[name].shape[axis] // trace.sizes()[heads]
        return [f"{n + 1} ({say('place.head', number=n // width + 1)})" for n in places]
    return [str(n + 1) for n in places]


def cell_editor(scene: ScreenState, name: str, matrix: np.ndarray) -> None:
    """A part of the matrix in cells. Its key holds version, shape and place: edits never land on other numbers.

    The cells are text: a column of numbers would drop what it does not understand, such as the e of 1e3.
    """
    part, look = choose_editor_window(name, matrix), scene.look
    top, left = part[0].start, part[1].start
    where = f"{look.batch}_{look.head}" if name in input_origins.WHAT_IF_STEPS else ""
    key = f"e_{name}_{where}_{setup_state.editors_version()}_{matrix.shape}_{top}_{left}"
    try:
        rows = [row.split(",") for row in to_text(round_for_cells(name, matrix[part]), name).split(";")]
    except AttentionError:  # a score or weight that no cell may hold: too large, or not a number
        st.caption(say("editor.unreadable"))
        return
    down, across = (
        make_axis_headings(scene.trace, name, axis, first, count)
        for axis, first, count in ((-2, top, len(rows)), (-1, left, len(rows[0])))
    )
    import pandas as pd  # a third of a second, which no page needs to begin

    frame = pd.DataFrame(rows, index=down, columns=across)

    def edited() -> None:
        cells = read_sent_cells(st.session_state[key], len(rows), across)
        if cells is None:
            setup_state.renew_editors()
            return
        changed, error = apply_typed_cells(matrix, cells, (top, left), name)
        if not np.array_equal(changed, matrix):
            take_matrix(scene, name, lambda: changed, editor_control_name(name))
        if error is not None:
            setup_state.renew_editors()  # the cell shows its number again
            setup_state.store_refusal(editor_control_name(name), error)
        redraw()

    width = 64 if max(len(text) for row in rows for text in row) <= 7 else 150
    columns = {column: st.column_config.TextColumn(width=width) for column in frame.columns}
    columns["_index"] = st.column_config.TextColumn(disabled=True)  # the headings are no numbers
    st.data_editor(frame, key=key, on_change=edited, height="content", column_config=columns)


def apply_typed_cells(
    matrix: np.ndarray, cells: list[tuple[int, int, object]], corner: tuple[int, int], name: str
) -> tuple[np.ndarray, AttentionError | None]:
    """A matrix with what was typed into the cells of a part of it, and the last refusal of a text that is no number.
    corner: the row and the column that the part begins with."""
    changed, error = matrix.copy(), None
    for row, column, text in cells:
        at = corner[0] + row, corner[1] + column
        place = {"name": name, "row": at[0] + 1, "column": at[1] + 1}
        try:
            if text is None or not str(text).strip():
                raise AttentionError("cell_empty", **place)
            changed[at] = read_cell(str(text), **place)
        except AttentionError as refusal:
            error = refusal
    return changed, error


def round_for_cells(name: str, matrix: np.ndarray) -> np.ndarray:
    """The numbers as they stand in cells: what was computed is rounded, what was typed stands as it was typed."""
    return matrix.round(EDITOR_DECIMALS) if name in input_origins.WHAT_IF_STEPS else matrix


EDITOR_DECIMALS = 4  # so that a row of seven fits


def read_sent_cells(sent: Mapping, rows: int, columns: list[str]) -> list[tuple[int, int, object]] | None:
    """What was typed into cells, (row, column, text) each; None where a browser sends what these cells cannot give."""
    match sent:
        case {"edited_rows": {} as lines, "added_rows": [], "deleted_rows": []}:
            known = {(row, column) for row in range(rows) for column in columns}
            if all(isinstance(line, Mapping) and {(row, at) for at in line} <= known for row, line in lines.items()):
                return [(row, columns.index(at), text) for row, line in lines.items() for at, text in line.items()]
    return None


# ---- the buttons -----------------------------------------------------------------------------------------------------
def editor_buttons(scene: ScreenState, name: str, matrix: np.ndarray | None, base: np.ndarray | None) -> None:
    """Identity, zeros, random, none, reset; another seed for what is random without having been asked to be."""
    setup, text = scene.setup, getattr(scene.setup, name)
    shape, drawn = new_shape(scene, name, matrix), random_seed(text)

    def button(kind: str, label: str, act, *args, **kwargs) -> None:
        help_text = say(f"help.{kind}") if has(f"help.{kind}") else None
        st.button(label, key=f"b_{kind}_{name}", on_click=act, args=args, kwargs=kwargs, help=help_text)

    is_mask = name == "allowed"
    with st.container(horizontal=True):
        if shape[0] > 1:
            button(
                "identity",
                say("editor.mask_identity" if is_mask else "editor.identity"),
                replace_matrix,
                scene,
                name,
                lambda: np.eye(*shape),
            )
        button(
            "zeros",
            say("editor.mask_zeros" if is_mask else "editor.zeros"),
            replace_matrix,
            scene,
            name,
            lambda: np.zeros(shape),
        )
        seed = setup.seed if drawn is None else next_seed(drawn)
        if is_mask:
            button("ones", say("editor.ones"), replace_matrix, scene, name, lambda: np.ones(shape))
        elif name not in input_origins.WHAT_IF_STEPS and (base is not None or name in BIASES):
            button("random", say("editor.random"), replace_text, name, f"random.{seed}~")
        else:
            button(
                "random",
                say("editor.random"),
                replace_matrix,
                scene,
                name,
                make_random_reader(scene, name, shape, seed),
            )
        if name in PROJECTIONS + BIASES and matrix is not None:
            button("none", say("editor.remove"), replace_text, name, "none")
        if text is not None:
            button("reset", say("editor.reset"), restore_matrix, scene, name)
        drawn_by_itself = [other for other, origin in scene.inputs.origins.items() if origin == "random"]
        if scene.inputs.random_words() or any(getattr(setup, other) is None for other in drawn_by_itself):
            button(
                "seed",
                say("editor.seed", seed=setup.seed),
                try_change,
                editor_control_name(name),
                seed=next_seed(setup.seed),
            )


def new_shape(scene: ScreenState, name: str, matrix: np.ndarray | None) -> tuple[int, int]:
    """The shape of what a button makes: that of the matrix, of a bias that is not there as wide as its projection."""
    if matrix is not None:
        return matrix.shape
    known = scene.inputs.bases.get(name, scene.inputs.matrices.get(name.replace("b_", "w_")))
    return (1, known.shape[1]) if name in ONE_ROW_MATRICES else known.shape


def make_random_reader(scene: ScreenState, name: str, shape: tuple[int, int], seed: int) -> MatrixReader:
    """Random numbers where there is nothing that a seed could stand for: another draw at every click."""

    def read() -> np.ndarray:
        drawn = random_matrix(name, shape, seed)
        again = name in input_origins.WHAT_IF_STEPS and np.array_equal(
            input_origins.get_head_numbers(scene, name)[0], drawn
        )
        return random_matrix(name, shape, next_seed(seed)) if again else drawn

    return read


def next_seed(seed: int) -> int:
    """The next seed, among those that a link can say."""
    return (seed + 1) % (MAX_LINK_NUMBER + 1)


# ---- from a file -----------------------------------------------------------------------------------------------------
def upload_box(scene: ScreenState, name: str) -> None:
    """The same matrix from a file; one of its arrays where it holds several."""
    key = f"u_{name}_{setup_state.editors_version()}"

    def chosen() -> None:
        file = st.session_state[key]
        if file is not None:
            replace_matrix(
                scene, name, lambda: read_matrix(file.name, file.getvalue(), name), import_control_name(name)
            )

    def picked() -> None:
        file, array = st.session_state[key], st.session_state[f"{key}_array"]
        if file is not None and array is not None:
            replace_matrix(
                scene, name, lambda: read_matrix(file.name, file.getvalue(), name, array), import_control_name(name)
            )

    with st.container():
        st.file_uploader(
            say("control.upload", name=name_matrix(name)), type=MATRIX_FILE_TYPES, key=key, on_change=chosen
        )
        refusal = setup_state.get_refusal(import_control_name(name))
        if st.session_state.get(key) is not None and refusal is not None and refusal.code == "which_array":
            file = st.session_state[key]
            names = [*read_arrays(file.name, file.getvalue(), minus_infinity=True)]
            words = {"index": None, "placeholder": "–", "format_func": label_arrays(names).__getitem__}
            st.selectbox(say("control.array"), names, key=f"{key}_array", on_change=picked, **words)


# ---- as a text -------------------------------------------------------------------------------------------------------
def paste_box(scene: ScreenState, name: str, matrix: np.ndarray | None) -> None:
    """The same matrix as text, to paste into and copy from."""
    look = scene.look
    where = f"{look.batch}_{look.head}" if name in input_origins.WHAT_IF_STEPS else ""
    key = f"p_{name}_{where}_{setup_state.editors_version()}"

    def pasted() -> None:
        replace_matrix(scene, name, lambda: parse_matrix(st.session_state[key], name), import_control_name(name))

    mirror_field(
        key, import_control_name(name), "" if matrix is not None and matrix.size > 4096 else format_matrix_rows(matrix)
    )
    st.text_area(
        say("control.matrix", name=name_matrix(name)), key=key, on_change=pasted, height=120, help=say("help.matrix")
    )
