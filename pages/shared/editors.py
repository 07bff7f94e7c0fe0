"""Matrices in cells: edit, paste, identity, random, reset."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from attention_core import Trace
from attention_core.edits import random_seed
from attention_core.errors import AttentionError
from attention_core.matrices import parse_matrix, read_cell, to_text
from pages.shared import state
from pages.shared.input_controls import as_rows
from pages.shared.inputs import Material
from pages.shared.places import axis_label
from pages.shared.setup import MOST, Setup
from pages.shared.widgets import mirror, show_refusal, try_change, try_matrix
from pages.shared.words import has, say

EDITABLE = 64  # rows or columns of a matrix that stands in cells as a whole
CORNER = 16  # rows and columns of the part of a larger one


def matrix_editors(trace: Trace, setup: Setup, material: Material) -> None:
    """One of the run's matrices at a time."""
    names = [name for name in material.origins if name != "allowed"]
    if st.session_state.get("c_edited") not in names:
        st.session_state["c_edited"] = "w_q" if "w_q" in names else names[0]
    name = st.segmented_control(say("editor.which"), names, key="c_edited", required=True, label_visibility="collapsed")
    matrix, base = material.matrices.get(name), material.bases.get(name)
    if matrix is None:
        st.caption(say("editor.removed", name=name))
    else:
        shape, seed = " × ".join(map(str, matrix.shape)), material.seeds.get(name)
        called = name if seed is None else say("origin.seeded", name=name, seed=seed)
        st.caption(say(f"origin.matrix.{material.origins[name]}", name=called, shape=shape))
        cell_editor(trace, name, matrix, base, corner(name, matrix))
    show_refusal(control(name))
    editor_buttons(setup, material, name)
    paste_box(name, matrix, base)


def control(name: str) -> str:
    """The editor of a matrix as a place of refusals: another one than the sidebar's box for the same matrix."""
    return f"edit_{name}"


def corner(name: str, matrix: np.ndarray) -> tuple[slice, slice]:
    """The rows and columns that stand in cells: all, or of a large matrix the part that is asked for."""
    rows, columns = matrix.shape
    if max(matrix.shape) <= EDITABLE:
        return slice(0, rows), slice(0, columns)
    st.caption(say("editor.corner", rows=min(CORNER, rows), columns=min(CORNER, columns)))
    with st.container(horizontal=True):
        firsts = [
            st.number_input(
                say(f"editor.first_{axis}"), 1, max(size - CORNER, 0) + 1, key=f"c_{axis}_{name}", width=140
            )
            for axis, size in (("row", rows), ("column", columns))
        ]
    return slice(firsts[0] - 1, firsts[0] - 1 + CORNER), slice(firsts[1] - 1, firsts[1] - 1 + CORNER)


def headings(trace: Trace, name: str, axis: int, first: int, count: int) -> list[str]:
    """Numbers from 1, with what the row or column stands for where that has a name."""
    dims = trace.step(name).dims if name in trace else ()
    dim = dims[axis] if len(dims) == 2 else ""
    named = dim in trace.labels and len(trace.labels[dim]) >= first + count
    return [f"{n + 1} {axis_label(trace, dim, n)}" if named else str(n + 1) for n in range(first, first + count)]


def cell_editor(
    trace: Trace, name: str, matrix: np.ndarray, base: np.ndarray | None, part: tuple[slice, slice]
) -> None:
    """A part of the matrix in cells. Its key holds version, shape and place: edits never land on other numbers.

    The cells are text: a column of numbers would drop what it does not understand, such as the e of 1e3.
    """
    top, left = part[0].start, part[1].start
    key = f"e_{name}_{state.version()}_{matrix.shape}_{top}_{left}"
    rows = [row.split(",") for row in to_text(matrix[part], name).split(";")]
    down, across = headings(trace, name, -2, top, len(rows)), headings(trace, name, -1, left, len(rows[0]))
    frame = pd.DataFrame(rows, index=down, columns=across)

    def edited() -> None:
        changed, error = matrix.copy(), None
        for row, cells in st.session_state[key]["edited_rows"].items():
            for column, text in cells.items():
                at = top + int(row), left + across.index(column)
                place = {"name": name, "row": at[0] + 1, "column": at[1] + 1}
                try:
                    if text is None or not str(text).strip():
                        raise AttentionError("cell_empty", **place)
                    changed[at] = read_cell(str(text), **place)
                except AttentionError as refusal:
                    error = refusal
        if not np.array_equal(changed, matrix):
            try_matrix(control(name), name, lambda: changed, base)
        if error is not None:
            state.new_version()  # the cell shows its number again
            state.refuse(control(name), error)

    width = 64 if max(len(text) for row in rows for text in row) <= 7 else 150
    columns = {column: st.column_config.TextColumn(width=width) for column in frame.columns}
    st.data_editor(frame, key=key, on_change=edited, height="content", column_config=columns)


def replace_matrix(name: str, read: Callable[[], np.ndarray], base: np.ndarray | None) -> None:
    """Takes another matrix."""
    try_matrix(control(name), name, read, base)
    renew(name)


def editor_buttons(setup: Setup, material: Material, name: str) -> None:
    """Identity, zeros, random, none, reset; another seed for what is random without having been asked to be."""
    matrix, base, text = material.matrices.get(name), material.bases.get(name), getattr(setup, name)
    drawn = random_seed(text)

    def button(kind: str, label: str, act, *args, **kwargs) -> None:
        help_text = say(f"help.{kind}") if has(f"help.{kind}") else None
        st.button(label, key=f"b_{kind}_{name}", on_click=act, args=args, kwargs=kwargs, help=help_text)

    with st.container(horizontal=True):
        if matrix is not None and matrix.shape[0] > 1:
            button("identity", say("editor.identity"), replace_matrix, name, lambda: np.eye(*matrix.shape), base)
            button("zeros", say("editor.zeros"), replace_matrix, name, lambda: np.zeros(matrix.shape), base)
        if base is not None:
            seed = setup.seed if drawn is None else after(drawn)
            button("random", say("editor.random"), replace_text, name, f"random.{seed}~")
        if name in ("w_q", "w_k", "w_v", "w_o") and matrix is not None:
            button("none", say("editor.remove"), replace_text, name, "none")
        if text is not None:
            button("reset", say("editor.reset"), replace_text, name, None)
        drawn_by_itself = [other for other, origin in material.origins.items() if origin == "random"]
        if material.random_words() or any(getattr(setup, other) is None for other in drawn_by_itself):
            button("seed", say("editor.seed", seed=setup.seed), try_change, control(name), seed=after(setup.seed))


def after(seed: int) -> int:
    """The next seed, among those that a link can say."""
    return (seed + 1) % (MOST + 1)


def replace_text(name: str, text: str | None) -> None:
    """Takes another matrix by its link form."""
    try_change(control(name), **{name: text})
    renew(name)


def renew(name: str) -> None:
    """The grid and the paste box forget what was typed into them, unless it was refused."""
    if state.refused(control(name)) is None:
        state.new_version()


def paste_box(name: str, matrix: np.ndarray | None, base: np.ndarray | None) -> None:
    """The same matrix as text, to paste into and copy from."""
    key = f"p_{name}_{state.version()}"

    def pasted() -> None:
        replace_matrix(name, lambda: parse_matrix(st.session_state[key], name), base)

    mirror(key, control(name), "" if matrix is not None and matrix.size > 4096 else as_rows(matrix))
    st.text_area(say("control.matrix", name=name), key=key, on_change=pasted, height=120, help=say("help.matrix"))
