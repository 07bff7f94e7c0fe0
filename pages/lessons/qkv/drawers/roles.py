"""The lesson on query, key and value, drawer "roles": who plays which role?"""

import streamlit as st

from attention_core.explanation.facts import accident_at
from attention_core.record.number_text import format_fixed, format_row
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup


def show_roles(setup: Setup) -> None:
    """Tells query, key and value in the words of an analogy, with the numbers of this run."""
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
