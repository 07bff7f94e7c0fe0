"""The drawer in which matrices are edited, one at a time: inputs, and a head's mask, scores and weights."""

import numpy as np
import streamlit as st

from pages.panels import canvas_map
from pages.panels.input_origins import describe_origins
from pages.panels.setup_controls import show_refusal
from pages.panels.typed_cells import list_given_matrices
from pages.runs.sentences import BIASES
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.opened_drawers import show_drawer
from pages.session.view import ScreenState
from pages.site.words import say
from pages.workbench.matrix_boxes import name_matrix, paste_box, take_matrix_text, upload_box
from pages.workbench.matrix_buttons import editor_buttons
from pages.workbench.matrix_cells import cell_editor
from pages.workbench.matrix_changes import (
    PAIR_MATRICES,
    editor_control_name,
    get_matrix_and_base,
    import_control_name,
    replace_matrix,
)

EDITORS_DRAWER_KEY = "editors"
SWAPPED_READERS = {"w_q": "K", "w_k": "Q", "b_q": "K", "b_k": "Q"}  # matrix -> its projection if Q and K are swapped


@page_part(lambda screen: describe_origins(screen.setup, screen.inputs))
def show_origins(screen: ScreenState) -> None:
    """Shows the origin of the run's numbers."""
    st.caption(describe_origins(screen.setup, screen.inputs))


def is_editing() -> bool:
    """Whether the matrix drawer is open: the page then gives its column more width."""
    return st.session_state.get(EDITORS_DRAWER_KEY, False)


def editors_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the run, the selection and the state of the editors; () while the drawer is closed."""
    if not is_editing():
        return ()
    session = st.session_state
    name = session.get("c_edited")
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
    """Shows the drawer in which matrices are edited; opening or closing it redraws the whole page."""
    show_drawer(
        say("editor.title"),
        ":material/edit:",
        EDITORS_DRAWER_KEY,
        lambda: show_matrix_editor(screen),
        on_change=st.rerun,
    )


def show_matrix_editor(screen: ScreenState) -> None:
    """Shows the choice of a matrix, and the editor of the chosen one."""
    name = choose_matrix(list_editable_matrices(screen))
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
        paste_box(screen, name, matrix)
        upload_box(screen, name)
    show_refusal(import_control_name(name), lambda text: take_matrix_text(screen, name, text))


def choose_matrix(names: list[str]) -> str:
    """Shows the choice of a matrix and returns its name; at first W_q if the run has it."""
    if st.session_state.get("c_edited") not in names:
        st.session_state["c_edited"] = "w_q" if "w_q" in names else names[0]
    return st.segmented_control(
        say("editor.which"),
        names,
        format_func=name_matrix,
        key="c_edited",
        required=True,
        label_visibility="collapsed",
    )


def list_editable_matrices(screen: ScreenState) -> list[str]:
    """Returns the names of all editable matrices: inputs of the run, biases that can be added, and PAIR_MATRICES."""
    inputs = screen.inputs
    names = list_given_matrices(inputs)
    for bias in BIASES:
        projection = bias.replace("b_", "w_")
        if bias not in inputs.origins and projection in inputs.matrices:
            names.append(bias)
    return [*names, *PAIR_MATRICES]


# ---- in words --------------------------------------------------------------------------------------------------------
def describe_matrix(screen: ScreenState, name: str, matrix: np.ndarray | None) -> str:
    """Returns the description of a matrix: its shape, the origin of its numbers, and the effect of the wiring."""
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
    """Returns the sentence that W_q is used instead of this matrix, or that this matrix projects to K or Q; "" if
    neither applies.
    """
    if "tied" in wiring and name in ("w_k", "w_v"):
        return say("editor.tied", name=name)
    if "swapped" in wiring and name in SWAPPED_READERS:
        return say("editor.swapped", name=name, reader=SWAPPED_READERS[name])
    return ""
