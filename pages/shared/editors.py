"""Weight matrices in cells: edit, paste, identity, random, reset."""

import numpy as np
import pandas as pd
import streamlit as st

from attention_core.edits import short_text
from attention_core.errors import AttentionError
from attention_core.matrices import parse_matrix, read_cell, to_text
from pages.shared import state
from pages.shared.input_controls import as_rows
from pages.shared.inputs import Material
from pages.shared.setup import Setup
from pages.shared.widgets import show_refusal, try_change
from pages.shared.words import say

EDITABLE = 64  # rows or columns of a matrix that is edited in cells; a larger one is pasted


def weight_editors(setup: Setup, material: Material) -> None:
    """One of the run's matrices at a time."""
    names = [name for name in material.matrices if name not in ("q", "k", "v", "allowed")]
    removed = [name for name in ("w_q", "w_k", "w_v", "w_o") if getattr(setup, name) == "none"]
    names += [name for name in removed if name not in names]
    if not names:
        st.caption(say("editor.nothing"))
        return
    if st.session_state.get("c_edited") not in names:
        st.session_state["c_edited"] = "w_q" if "w_q" in names else names[0]
    name = st.segmented_control(say("editor.which"), names, key="c_edited", required=True, label_visibility="collapsed")
    matrix, base = material.matrices.get(name), material.bases.get(name)
    if matrix is None:
        st.caption(say("editor.removed", name=name))
    else:
        shape = " × ".join(map(str, matrix.shape))
        st.caption(say(f"origin.matrix.{material.origins[name]}", name=name, shape=shape, seed=setup.seed))
        if max(matrix.shape) <= EDITABLE:
            cell_editor(name, matrix, base)
        else:
            st.caption(say("editor.too_large", limit=EDITABLE))
    show_refusal(name)
    editor_buttons(setup, name, matrix, base)
    paste_box(name, matrix, base)


def cell_editor(name: str, matrix: np.ndarray, base: np.ndarray | None) -> None:
    """The matrix in cells. Its key holds the version and the shape, so that edits never land on another matrix.

    The cells are text: a column of numbers would drop what it does not understand, such as the e of 1e3.
    """
    key = f"e_{name}_{state.version()}_{matrix.shape}"
    rows = [row.split(",") for row in to_text(matrix, name).split(";")]
    frame = pd.DataFrame(rows, columns=[str(column) for column in range(matrix.shape[1])])

    def edited() -> None:
        changed, error = matrix.copy(), None
        for row, cells in st.session_state[key]["edited_rows"].items():
            for column, text in cells.items():
                place = {"name": name, "row": int(row) + 1, "column": int(column) + 1}
                try:
                    if text is None or not str(text).strip():
                        raise AttentionError("cell_empty", **place)
                    changed[int(row), int(column)] = read_cell(str(text), **place)
                except AttentionError as refusal:
                    error = refusal
        if not np.array_equal(changed, matrix):
            take(name, changed, base)
        if error is not None:
            state.new_version()  # the cell shows its number again
            state.refuse(name, error)

    columns = {column: st.column_config.TextColumn(width=64) for column in frame.columns}
    st.data_editor(frame, key=key, on_change=edited, height="content", column_config=columns)


def take(name: str, matrix: np.ndarray, base: np.ndarray | None) -> None:
    """Tries a matrix in the place of another; `base` is the one that nobody changed."""
    try:
        text = short_text(matrix, base, name)
    except AttentionError as error:
        state.refuse(name, error)
        return
    try_change(name, **{name: text})


def replace_matrix(name: str, matrix: np.ndarray, base: np.ndarray | None) -> None:
    """Takes another matrix; the grid and the paste box forget what was typed into them, unless it was refused."""
    take(name, matrix, base)
    if state.refused(name) is None:
        state.new_version()


def editor_buttons(setup: Setup, name: str, matrix: np.ndarray | None, base: np.ndarray | None) -> None:
    """Identity, zeros, another seed, none, reset."""

    def new_seed() -> None:
        try_change(name, seed=setup.seed + 1)

    with st.container(horizontal=True):
        if matrix is not None and matrix.shape[0] > 1:
            for kind, start in (("identity", np.eye(*matrix.shape)), ("zeros", np.zeros(matrix.shape))):
                key = f"b_{kind}_{name}"
                st.button(say(f"editor.{kind}"), key=key, on_click=replace_matrix, args=(name, start, base))
        if name in ("w_q", "w_k", "w_v", "w_o") and matrix is not None:
            st.button(
                say("editor.remove"), key=f"b_none_{name}", on_click=try_change, args=(name,), kwargs={name: "none"}
            )
        if getattr(setup, name) is not None:
            st.button(
                say("editor.reset"), key=f"b_reset_{name}", on_click=try_change, args=(name,), kwargs={name: None}
            )
        st.button(say("editor.seed", seed=setup.seed), key="b_seed", on_click=new_seed, help=say("help.seed"))


def paste_box(name: str, matrix: np.ndarray | None, base: np.ndarray | None) -> None:
    """The same matrix as text, to paste into and copy from."""
    key = f"p_{name}_{state.version()}"

    def pasted() -> None:
        try:
            replace_matrix(name, parse_matrix(st.session_state[key], name), base)
        except AttentionError as error:
            state.refuse(name, error)

    if key not in st.session_state:
        st.session_state[key] = "" if matrix is not None and matrix.size > 4096 else as_rows(matrix)
    st.text_area(say("control.matrix", name=name), key=key, on_change=pasted, height=120, help=say("help.matrix"))
