"""Draws the accordions of the lesson on query, key and value."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.comparison.differences import find_moves
from attention_core.comparison.distances import abs_difference
from attention_core.explanation.facts import accident_at, row_fact, transpose_gap
from attention_core.explanation.projections import projection_in
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_values import ChangedCells
from attention_core.record.number_text import format_exact, format_fixed, format_row
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.pictures import show_step_picture
from pages.lessons.sentences import join_with_commas, quote_token, show_sentence
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import selection_of, spoken_step_name
from pages.setup.setup import Setup, make_setup
from pages.site.words import escape_markdown, say


# ---- key and value, drawer "roles": who plays which role? ------------------------------------------------------------
def show_roles(setup: Setup) -> None:
    """Shows an analogy for query, key and value, with the numbers of this run."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    query = selection.query
    of_query = {"B": selection.batch, "H": selection.head, "T": query}
    weights = trace.step("weights").window(**of_query)  # (S,)
    scores = trace.step("scores").window(**of_query)  # (S,)
    key = int(weights.argmax())
    of_key = {"B": selection.batch, "H_kv": selection.kv, "S": key}
    values = {
        "query": quote_token(trace, "T", query),
        "key": quote_token(trace, "S", key),
        "q": format_row(trace.step("q").window(**of_query)),
        "k": format_row(trace.step("k").window(**of_key)),
        "v": format_row(trace.step("v").window(**of_key)),
        "score": format_fixed(scores[key]),
        "share": format_fixed(weights[key]),
        "z": format_row(trace.step("head_outputs").window(**of_query)),
    }
    analogy = choose_option("analogy", ("search", "library", "stage"))
    value = "value_random" if accident_at(trace, query, [key]) else "value"
    numbers = {"query": "query", "key": "key", "value": value}
    for box, (role, number) in zip(st.columns(3), numbers.items(), strict=True):
        with box, st.container(border=True, height="stretch"):
            show_sentence(f"lessons.qkv.{analogy}_{role}")
            show_sentence(f"lessons.qkv.number_{number}", **values)
    show_sentence("lessons.qkv.mixed", **values)


# ---- key and value, drawer "shapes": which shapes fit? ---------------------------------------------------------------
START_SIZES = {  # control -> default size: one query and five keys
    "queries": 1,
    "keys": 5,
    "values": 5,
    "d_q": 8,
    "d_k": 8,
    "d_v": 10,
}
SIZE_CONTROLS = (("queries", "keys", "values"), ("d_q", "d_k", "d_v"))  # names of the controls in two rows
# matrix -> names of its two sizes
MATRIX_SHAPES = {"q": ("queries", "d_q"), "k": ("keys", "d_k"), "v": ("values", "d_v")}


def show_shapes(_: Setup) -> None:
    """Shows the head outputs for the chosen counts and widths of queries, keys and values.

    Raises AttentionError if the sizes do not fit each other; the frame shows the rule that they violate.
    """
    sizes = choose_sizes()
    score = choose_option("score", ("scaled_dot", "additive"))
    matrices = {}
    for name, (rows, columns) in MATRIX_SHAPES.items():
        matrix = random_matrix(name, (sizes[rows], sizes[columns]), 0)
        matrices[name] = pack_matrix(matrix)
    tried = make_setup(example="one_query", score=score, **matrices)
    trace = trace_for(tried)
    show_sentence(
        "lessons.qkv.fits",
        scores=format_rows_and_columns(trace, "scores"),
        output=format_rows_and_columns(trace, "output"),
    )
    show_step_picture("shapes", trace, "head_outputs", selection_of(trace, tried))
    link_to_workbench(tried, "shapes")


def choose_sizes() -> dict[str, int]:
    """Shows the controls for the counts and widths of queries, keys and values; returns {control: size}."""
    sizes = {}
    for names in SIZE_CONTROLS:
        for box, name in zip(st.columns(3), names, strict=True):
            with box:
                sizes[name] = slide(name, range(1, 13), START_SIZES[name])
    return sizes


def format_rows_and_columns(trace: Trace, step: str) -> str:
    """Formats the numbers of rows and columns of a step, such as "1 × 5"."""
    rows, columns = trace.step(step).shape[-2:]
    return say("lessons.qkv.by").join([str(rows), str(columns)])


# ---- key and value, drawer "change": what if one matrix is changed? --------------------------------------------------
MATRIX_CHANGES = {
    "swap": {"wiring": ("swapped",)},
    "share": {"wiring": ("tied",)},
    "value": {"w_v": ChangedCells("identity")},
}


def show_matrix_change(setup: Setup) -> None:
    """Shows a changed run: W_q and W_k swapped, one matrix for q, k and v, or another W_v."""
    change = choose_option("change", tuple(MATRIX_CHANGES))
    changed = setup.with_fields(**MATRIX_CHANGES[change])
    before = trace_for(setup)
    now = trace_for(changed)
    selection = selection_of(before, setup)
    if change == "swap":  # the key with the largest weight becomes the query
        asked = row_fact(before, selection.head, selection.query).keys[0]
        selection = replace(selection, query=asked)
    st.markdown(f"**{fact_sentence(now, selection)}**")
    mirrored = before if change == "swap" else now
    show_sentence(
        f"lessons.qkv.changed_{change}",
        gap=format_exact(transpose_gap(now, mirrored)),
        one=inputs_of(setup).matrices["w_q"].size,
        moved=escape_markdown(list_moved_steps(now, before)),
    )
    step = "output" if change == "value" else "scores"
    with st.container(horizontal=True):
        for name, trace in (("before", before), ("now", now)):
            with st.container(width="content"):
                st.caption(say(f"lessons.qkv.{name}"))
                show_step_picture(f"change_{name}", trace, step, selection)
    link_to_workbench(changed, "change")


def list_moved_steps(now: Trace, before: Trace) -> str:
    """Returns the names of the computed steps whose numbers changed, as one text."""
    computed = now.computed()
    moved = [spoken_step_name(step) for step in find_moves(now, before) if step in computed]
    return join_with_commas(moved)


# ---- key and value, drawer "row": one row, or all at once? Rows, or columns? -----------------------------------------
def show_conventions(setup: Setup) -> None:
    """Shows the query of a word in both conventions: as a row times a matrix, and as a matrix times a column."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    convention = choose_option("convention", ("rows", "columns"))
    word = quote_token(trace, "T", selection.query)
    show_sentence(f"lessons.qkv.in_{convention}", word=word)
    st.latex(projection_in(convention, trace, selection.head, selection.query))
    st.markdown(say("lessons.qkv.transposed"))


def show_word_alone(setup: Setup) -> None:
    """Shows that a single query, compared with all keys, gets the same weights as in the matrix product with all
    queries.
    """
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    word = trace.labels["T"][selection.query]
    alone = setup.with_fields(
        cross=True,
        text=f"{word}|",
        context_text=setup.run.text,
        token=0,
    )
    single = trace_for(alone)
    row_of_all = trace["weights"][0, selection.head, selection.query]  # (S,)
    row_alone = single["weights"][0, selection.head, 0]  # (S,)
    gap = abs_difference(row_of_all, row_alone).max()
    show_sentence(
        "lessons.qkv.alone",
        word=quote_token(trace, "T", selection.query),
        gap=format_exact(gap.item()),
        T=trace.sizes()["T"],
    )
    step = choose_option("form", ("scores", "weights", "head_outputs"))
    show_step_picture("alone", single, step, replace(selection, query=0))
    show_step_picture("whole", trace, step, selection)


LESSON = Lesson(
    "qkv",
    drawers={
        "roles": show_roles,
        "shapes": show_shapes,
        "change": show_matrix_change,
        "row": Tabs("written", {"alone": show_word_alone, "conventions": show_conventions}),
    },
    code=("q_projected", "q", "scores", "scaled_scores", "weights", "head_outputs", "concat", "output"),
)
