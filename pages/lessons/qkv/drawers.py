"""Lesson 1, further sights: one matrix changed, which shapes fit, who plays which role, one row or all at once."""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.differences import find_moves
from attention_core.comparison.distances import abs_difference
from attention_core.explanation.facts import accident_at, row_fact, transpose_gap
from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import to_text
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_exact, format_fixed, format_row
from pages.export.doors import workbench_door
from pages.lessons.pictures import show_step_picture
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import name_token, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say, say_refusal

MATRIX_CHANGES = {"swap": {"wiring": ("swapped",)}, "share": {"wiring": ("tied",)}, "value": {"w_v": "identity~"}}


def show_change(setup: Setup) -> None:
    """W_q and W_k exchanged, one matrix in the place of all three, or another W_v alone."""
    kind = choose_option("change", tuple(MATRIX_CHANGES))
    changed = replace(setup, **MATRIX_CHANGES[kind])
    before, now = trace_for(setup), trace_for(changed)
    look = selection_of(before, setup)
    if kind == "swap":  # the word that was asked is the one that asks now
        look = replace(look, query=row_fact(before, look.head, look.query).keys[0])
    st.markdown(f"**{fact_sentence(now, look)}**")
    matrices = inputs_of(setup).matrices
    told = {
        "gap": format_exact(transpose_gap(now, before if kind == "swap" else now)),
        "one": matrices["w_q"].size,
        "moved": escape_markdown(
            say("fact.comma").join(step for step in find_moves(now, before) if step in now.computed())
        ),
    }
    st.markdown(say(f"lessons.qkv.changed_{kind}", **told))
    step = "scores" if kind != "value" else "output"
    with st.container(horizontal=True):
        for name, trace in (("before", before), ("now", now)):
            with st.container(width="content"):
                st.caption(say(f"lessons.qkv.{name}"))
                show_step_picture(f"change_{name}", trace, step, look)
    workbench_door(changed, "change")


START_SIZES = {
    "queries": 1,
    "d_q": 8,
    "keys": 5,
    "d_k": 8,
    "values": 5,
    "d_v": 10,
}  # lecture notes 001: one query, five keys


def show_shapes(_: Setup) -> None:
    """Queries, keys and values of any numbers and widths: what comes out, or which rule is broken."""
    sizes = {}
    for columns in (("queries", "keys", "values"), ("d_q", "d_k", "d_v")):
        for box, name in zip(st.columns(3), columns, strict=True):
            with box:
                sizes[name] = slide(name, range(1, 13), START_SIZES[name])
    score = choose_option("score", ("scaled_dot", "additive"))
    rows = {"q": ("queries", "d_q"), "k": ("keys", "d_k"), "v": ("values", "d_v")}
    drawn = {
        name: to_text(random_matrix(name, tuple(sizes[size] for size in sizes_of), 0))
        for name, sizes_of in rows.items()
    }
    tried = Setup(example="one_query", score=score, **drawn)
    try:
        trace = trace_for(tried)
    except AttentionError as error:
        st.error(say_refusal(error), icon=":material/error:")
        return
    shapes = {name: say("lessons.qkv.by").join(map(str, trace[name].shape[-2:])) for name in ("scores", "output")}
    st.markdown(say("lessons.qkv.fits", **shapes))
    show_step_picture("shapes", trace, "head_outputs", selection_of(trace, tried))
    workbench_door(tried, "shapes")


def show_roles(setup: Setup) -> None:
    """Query, key and value in the words of an analogy, with the numbers of this run."""
    trace = trace_for(setup)
    look = selection_of(trace, setup)
    at = {"B": look.batch, "H": look.head}
    weights = trace.step("weights").window(**at, T=look.query)
    key = int(weights.argmax())
    told = {
        "query": escape_markdown(name_token(trace, "T", look.query)),
        "key": escape_markdown(name_token(trace, "S", key)),
        "q": format_row(trace.step("q").window(**at, T=look.query)),
        "k": format_row(trace.step("k").window(B=look.batch, H_kv=look.kv, S=key)),
        "v": format_row(trace.step("v").window(B=look.batch, H_kv=look.kv, S=key)),
        "score": format_fixed(trace.step("scores").window(**at, T=look.query)[key]),
        "share": format_fixed(weights[key]),
        "z": format_row(trace.step("head_outputs").window(**at, T=look.query)),
    }
    kind = choose_option("analogy", ("search", "library", "stage"))
    delivers = "value_random" if accident_at(trace, look.query, [key]) else "value"
    for box, role in zip(st.columns(3), ("query", "key", "value"), strict=True):
        with box, st.container(border=True, height="stretch"):
            st.markdown(say(f"lessons.qkv.{kind}_{role}"))
            st.markdown(say(f"lessons.qkv.number_{delivers if role == 'value' else role}", **told))
    st.markdown(say("lessons.qkv.mixed", **told))


def show_row(setup: Setup) -> None:
    """The query of one word alone, against all keys: the row of the matrix form."""
    trace = trace_for(setup)
    look = selection_of(trace, setup)
    alone = replace(setup, cross=True, text=f"{trace.labels['T'][look.query]}|", context_text=setup.text, token=0)
    one = trace_for(alone)
    whole, single = trace["weights"][0, look.head, look.query], one["weights"][0, look.head, 0]  # (S,) each
    st.markdown(
        say(
            "lessons.qkv.alone",
            word=escape_markdown(name_token(trace, "T", look.query)),
            gap=format_exact(abs_difference(whole, single).max().item()),
            T=trace.sizes()["T"],
        )
    )
    step = choose_option("form", ("scores", "weights", "head_outputs"))
    show_step_picture("alone", one, step, replace(look, query=0))
    show_step_picture("whole", trace, step, look)
