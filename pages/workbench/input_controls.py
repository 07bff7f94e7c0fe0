"""What goes in: a sentence, a matrix, or q, k and v; and a second sequence for cross-attention."""

import numpy as np
import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import mirror, show_refusal, try_change, try_matrix
from pages.runs.cache import trace_of
from pages.runs.run_inputs import Material
from pages.runs.token_vectors import spelled
from pages.session import setup_state
from pages.session.fragments import part
from pages.session.view import Scene
from pages.setup.setup import UNCHANGED, Setup, computed_part, crosses, mode, said_positions
from pages.site.words import say
from pages.workbench.file_controls import UNTOLD, file_controls


def shows(scene: Scene) -> tuple[object, ...]:
    """The sentences; of anything else than sentences all that goes into the run, and the files in the box."""
    setup, bringing = scene.setup, st.session_state.get("bringing")
    if mode(setup) != "sentence" or bringing:
        return (bringing, computed_part(setup), setup_state.version(), st.session_state.get("uploads"))
    crossed = crosses(setup)
    return (setup.example, setup.text, setup.more, crossed, setup.context_text, scene.material.keys * crossed)


@part(shows)
def input_controls(scene: Scene) -> None:
    """A sentence, a matrix, or q, k and v; and a second sequence for cross-attention."""
    setup, material = scene.setup, scene.material

    def switched() -> None:
        setup = setup_state.current()
        wanted = st.session_state["c_mode"]
        st.session_state["bringing"] = wanted == "file"
        if wanted == "file":
            return
        changes = {"file": None, **UNTOLD} | dict.fromkeys(("x", "context", "q", "k", "v", "d_k", "d_v"))
        if mode(setup) in ("qkv", "file"):
            changes |= {"heads": None, "kv_heads": None}
        try:
            if wanted == "qkv":
                changes |= {"heads": 1, "kv_heads": None, "positions": said_positions(setup, ()), **first_head(setup)}
            elif EXAMPLES[setup.example].q is not None and wanted == "matrix":
                changes |= {"cross": True, **as_inputs(setup)}
            elif wanted == "matrix":
                changes |= {"x": UNCHANGED} | ({"context": UNCHANGED} if crosses(setup) else {})
        except AttentionError as error:  # numbers that a run holds and no text can
            setup_state.refuse("mode", error)
            return
        try_change("mode", **changes)

    kind = "file" if st.session_state.get("bringing") else mode(setup)
    mirror("c_mode", "mode", kind)
    st.segmented_control(
        say("control.input"),
        [*(["sentence"] if EXAMPLES[setup.example].q is None else []), "matrix", "qkv", "file"],
        format_func=lambda name: say(f"mode.{name}"),
        key="c_mode",
        on_change=switched,
        required=True,
        width="stretch",
        help=say("help.mode"),
    )
    show_refusal("mode")
    if kind == "file":
        file_controls(setup)
    elif kind == "sentence":
        sentence_box("text", setup, material.batch[0].words if material.batch else material.queries)
        if not crosses(setup):
            batch_box(setup)
    elif kind == "matrix":
        matrix_box("x", material)
    else:
        for name in "qkv":
            matrix_box(name, material)
    if kind in ("sentence", "matrix"):
        second_sequence(setup, material, kind)


def as_inputs(setup: Setup) -> dict[str, str]:
    """Where q, k and v were given without an x: q as the first sequence and k as the second, nothing projected."""
    given = first_head(setup, "qk")
    return {"x": given["q"], "context": given["k"]}


def first_head(setup: Setup, names: str = "qkv") -> dict[str, str]:
    """q, k and v of the first head of the run on the screen, in link form."""
    trace = trace_of(setup)
    steps = [trace.step(name) for name in names]
    return {step.name: to_text(step.window(B=0, **{step.dims[1]: 0}), step.name) for step in steps}


def sentence_box(field: str, setup: Setup, tokens: tuple[str, ...]) -> None:
    """A line of text that becomes tokens."""
    key = f"c_{field}"

    def typed() -> None:
        try_change(field, **{field: st.session_state[key]})

    typed_text = getattr(setup, field)
    mirror(key, field, typed_text if typed_text is not None else spelled(tokens, setup))
    st.text_input(say(f"control.{field}"), key=key, on_change=typed, help=say("help.text"))
    show_refusal(field)


def batch_box(setup: Setup) -> None:
    """Further sentences, one a line: they are computed together with the first, filled up to the longest."""

    def switched() -> None:
        try_change("more", more=EXAMPLES[setup.example].batch if st.session_state["c_batch"] else None, sentence=None)

    def typed() -> None:
        try_change("more", more=st.session_state["c_more"])

    mirror("c_batch", "more", setup.more is not None)
    st.toggle(say("control.batch"), key="c_batch", on_change=switched, help=say("help.batch"))
    if setup.more is not None:
        mirror("c_more", "more", setup.more)
        st.text_area(say("control.more"), key="c_more", on_change=typed, height=100)
    show_refusal("more")


def matrix_box(field: str, material: Material, height: int = 150) -> None:
    """A matrix as text: pasted from a spreadsheet, or typed."""
    key = f"c_{field}"

    def pasted() -> None:
        try_matrix(field, field, lambda: parse_matrix(st.session_state[key], field), material.bases.get(field))

    matrix = material.matrices.get(field)
    mirror(key, field, as_rows(matrix))
    words = say("control.allowed") if field == "allowed" else say("control.matrix", name=field)
    st.text_area(words, key=key, on_change=pasted, height=height, help=say("help.matrix"))
    show_refusal(field)


def as_rows(matrix: np.ndarray | None) -> str:
    """A row a line and spaces between the cells, to be read and changed; nothing for what is too large to be a text."""
    try:
        return "" if matrix is None else to_text(matrix).replace(",", "  ").replace(";", "\n")
    except AttentionError:
        return ""


def second_sequence(setup: Setup, material: Material, kind: str) -> None:
    """Cross-attention: keys and values from a second sentence or matrix."""

    def toggled() -> None:
        on = st.session_state["c_cross"]
        try_change("cross", cross=on, context=None, context_text=None)

    mirror("c_cross", "cross", crosses(setup))
    st.toggle(say("control.cross"), key="c_cross", on_change=toggled, help=say("help.cross"))
    show_refusal("cross")
    if crosses(setup):
        if kind == "sentence":
            sentence_box("context_text", setup, material.keys)
        else:
            matrix_box("context", material)
