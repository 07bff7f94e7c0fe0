"""What goes in: a sentence, a matrix, or q, k and v; and a second sequence for cross-attention."""

import numpy as np
import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.record.errors import AttentionError
from pages.panels.setup_controls import mirror_field, show_field_text, show_refusal, try_change, try_matrix
from pages.runs.cache import trace_for
from pages.runs.compute import spell_tokens
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.setup import UNCHANGED, Setup, input_mode_of, is_cross_attention, to_positions_field, without_view
from pages.site.words import say
from pages.workbench.file_controls import UNSPECIFIED_UPLOAD, show_file_controls


def input_dependencies(scene: ScreenState) -> tuple[object, ...]:
    """The sentences; of anything else than sentences all that goes into the run, and the files in the box."""
    setup, bringing = scene.setup, st.session_state.get("bringing")
    if input_mode_of(setup) != "sentence" or bringing:
        return (bringing, without_view(setup), setup_state.editors_version(), st.session_state.get("uploads"))
    crossed = is_cross_attention(setup)
    return (setup.example, setup.text, setup.more, crossed, setup.context_text, scene.inputs.keys * crossed)


@page_part(input_dependencies)
def show_input_controls(scene: ScreenState) -> None:
    """A sentence, a matrix, or q, k and v; and a second sequence for cross-attention."""
    setup, material = scene.setup, scene.inputs

    def switched() -> None:
        setup = setup_state.current_setup()
        wanted = st.session_state["c_mode"]
        st.session_state["bringing"] = wanted == "file"
        if wanted == "file":
            return
        changes = {"file": None, **UNSPECIFIED_UPLOAD} | dict.fromkeys(("x", "context", "q", "k", "v", "d_k", "d_v"))
        if input_mode_of(setup) in ("qkv", "file"):
            changes |= {"heads": None, "kv_heads": None}
        try:
            if wanted == "qkv":
                changes |= {
                    "heads": 1,
                    "kv_heads": None,
                    "positions": to_positions_field(setup, ()),
                    **write_first_head(setup),
                }
            elif EXAMPLES[setup.example].q is not None and wanted == "matrix":
                changes |= {"cross": True, **write_qk_as_inputs(setup)}
            elif wanted == "matrix":
                changes |= {"x": UNCHANGED} | ({"context": UNCHANGED} if is_cross_attention(setup) else {})
        except AttentionError as error:  # numbers that a run holds and no text can
            setup_state.store_refusal("mode", error)
            return
        try_change("mode", **changes)

    kind = "file" if st.session_state.get("bringing") else input_mode_of(setup)
    mirror_field("c_mode", "mode", kind)
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
        show_file_controls(setup)
    elif kind == "sentence":
        words = material.batch[0].words if material.batch else material.queries
        show_field_text("text", setup.text, spell_tokens(words, setup), help=say("help.text"))
        if not is_cross_attention(setup):
            batch_box(setup)
    elif kind == "matrix":
        matrix_box("x", material)
    else:
        for name in "qkv":
            matrix_box(name, material)
    if kind in ("sentence", "matrix"):
        show_second_sequence(setup, material, kind)


def write_qk_as_inputs(setup: Setup) -> dict[str, str]:
    """Where q, k and v were given without an x: q as the first sequence and k as the second, nothing projected."""
    given = write_first_head(setup, "qk")
    return {"x": given["q"], "context": given["k"]}


def write_first_head(setup: Setup, names: str = "qkv") -> dict[str, str]:
    """q, k and v of the first head of the run on the screen, in link form."""
    trace = trace_for(setup)
    steps = [trace.step(name) for name in names]
    return {step.name: to_text(step.window(B=0, **{step.dims[1]: 0}), step.name) for step in steps}


def batch_box(setup: Setup) -> None:
    """Further sentences, one a line: they are computed together with the first, filled up to the longest."""

    def switched() -> None:
        try_change("more", more=EXAMPLES[setup.example].batch if st.session_state["c_batch"] else None, sentence=None)

    def typed() -> None:
        try_change("more", more=st.session_state["c_more"])

    mirror_field("c_batch", "more", setup.more is not None)
    st.toggle(say("control.batch"), key="c_batch", on_change=switched, help=say("help.batch"))
    if setup.more is not None:
        mirror_field("c_more", "more", setup.more)
        st.text_area(say("control.more"), key="c_more", on_change=typed, height=100)
    show_refusal("more")


def matrix_box(field: str, material: RunInputs, height: int = 150) -> None:
    """A matrix as text: pasted from a spreadsheet, or typed."""
    key = f"c_{field}"

    def pasted() -> None:
        try_matrix(field, field, lambda: parse_matrix(st.session_state[key], field), material.bases.get(field))

    matrix = material.matrices.get(field)
    mirror_field(key, field, format_matrix_rows(matrix))
    words = say("control.allowed") if field == "allowed" else say("control.matrix", name=field)
    st.text_area(words, key=key, on_change=pasted, height=height, help=say("help.matrix"))
    show_refusal(field)


def format_matrix_rows(matrix: np.ndarray | None) -> str:
    """A row a line and spaces between the cells, to be read and changed; nothing for what is too large to be a text."""
    try:
        return "" if matrix is None else to_text(matrix).replace(",", "  ").replace(";", "\n")
    except AttentionError:
        return ""


def show_second_sequence(setup: Setup, material: RunInputs, kind: str) -> None:
    """Cross-attention: keys and values from a second sentence or matrix."""

    def toggled() -> None:
        on = st.session_state["c_cross"]
        try_change("cross", cross=on, context=None, context_text=None)

    mirror_field("c_cross", "cross", is_cross_attention(setup))
    st.toggle(say("control.cross"), key="c_cross", on_change=toggled, help=say("help.cross"))
    show_refusal("cross")
    if is_cross_attention(setup):
        if kind == "sentence":
            shipped = spell_tokens(material.keys, setup)
            show_field_text("context_text", setup.context_text, shipped, help=say("help.text"))
        else:
            matrix_box("context", material)
