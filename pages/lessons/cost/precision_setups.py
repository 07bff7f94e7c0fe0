"""The runs of the lesson on cost in which precision is lost: the reader's sentence, or scores that overflow."""

from dataclasses import replace

import streamlit as st

from attention_core.inputs.matrix_edits import scale_to_text
from attention_core.inputs.matrix_text import to_text
from attention_core.record.number_text import format_grouped
from attention_core.verification.precision import overflow_example
from pages.panels.link_controls import pick_example, sentence_box, slide
from pages.runs.cache import inputs_of
from pages.setup.setup import Setup

SCALE_OF_WIDTH_4 = 0.5  # the scale of width 4: one over its square root
QUERY_FACTORS = (1, 10, 100, 1000, 10_000, 12_000, 20_000)


def choose_own_setup() -> Setup:
    """Asks for a sentence, and by what its queries are multiplied."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        factor = slide("factor", QUERY_FACTORS, 1, format_grouped)
    if factor == 1:
        return setup
    w_q = inputs_of(setup).matrices["w_q"]
    return replace(setup, w_q=scale_to_text(w_q, factor, "w_q"))


def make_overflowing_setup() -> Setup:
    """Makes three queries and three keys built by hand, one of whose scores float16 cannot hold."""
    built = overflow_example()
    q = built.step("q").window(B=0, H=0)  # (T, d_k)
    k = built.step("k").window(B=0, H_kv=0)  # (S, d_k)
    v = built.step("v").window(B=0, H_kv=0)  # (S, d_v)
    return Setup(
        example="one_query",
        scale=SCALE_OF_WIDTH_4,
        q=to_text(q, "q"),
        k=to_text(k, "k"),
        v=to_text(v, "v"),
    )
