"""The lesson on query, key and value, drawer "shapes": which shapes fit?"""

import streamlit as st

from attention_core import Trace
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.record.errors import AttentionError
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_step_picture
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal

START_SIZES = {  # of lecture notes 001: one query, five keys
    "queries": 1,
    "keys": 5,
    "values": 5,
    "d_q": 8,
    "d_k": 8,
    "d_v": 10,
}
SIZE_CONTROLS = (("queries", "keys", "values"), ("d_q", "d_k", "d_v"))  # those of a row stand side by side
MATRIX_SHAPES = {"q": ("queries", "d_q"), "k": ("keys", "d_k"), "v": ("values", "d_v")}  # rows and columns


def show_shapes(_: Setup) -> None:
    """Shows queries, keys and values of any numbers and widths: what comes out, or which rule is broken."""
    sizes = choose_sizes()
    score = choose_option("score", ("scaled_dot", "additive"))
    matrices = {}
    for name, (rows, columns) in MATRIX_SHAPES.items():
        matrix = random_matrix(name, (sizes[rows], sizes[columns]), 0)
        matrices[name] = to_text(matrix)
    tried = Setup(example="one_query", score=score, **matrices)
    try:
        trace = trace_for(tried)
    except AttentionError as refusal:
        st.error(say_refusal(refusal), icon=":material/error:")
        return
    show_sentence(
        "lessons.qkv.fits",
        scores=format_rows_and_columns(trace, "scores"),
        output=format_rows_and_columns(trace, "output"),
    )
    show_step_picture("shapes", trace, "head_outputs", selection_of(trace, tried))
    link_to_workbench(tried, "shapes")


def choose_sizes() -> dict[str, int]:
    """Asks for the numbers and the widths of queries, keys and values."""
    sizes = {}
    for names in SIZE_CONTROLS:
        for box, name in zip(st.columns(3), names, strict=True):
            with box:
                sizes[name] = slide(name, range(1, 13), START_SIZES[name])
    return sizes


def format_rows_and_columns(trace: Trace, step: str) -> str:
    """The rows and columns of a step, as "1 × 5"."""
    rows, columns = trace.step(step).shape[-2:]
    return say("lessons.qkv.by").join([str(rows), str(columns)])
