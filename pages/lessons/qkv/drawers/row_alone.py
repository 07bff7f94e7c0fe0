"""The lesson on query, key and value, drawer "row": one row, or all at once? Rows, or columns?"""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.distances import abs_difference
from attention_core.explanation.conventions import projection_in
from attention_core.record.number_text import format_exact
from pages.lessons.frame import choose_sight
from pages.lessons.pictures import show_step_picture
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_row_alone(setup: Setup) -> None:
    """Shows one word alone against all at once, or its query written in rows and in columns."""
    show_sight = choose_sight("written", {"alone": show_word_alone, "conventions": show_conventions})
    show_sight(setup)


def show_conventions(setup: Setup) -> None:
    """Shows the query of one word as a row times a matrix, and as a matrix times a column."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    convention = choose_option("convention", ("rows", "columns"))
    word = quote_token(trace, "T", selection.query)
    show_sentence(f"lessons.qkv.in_{convention}", word=word)
    st.latex(projection_in(convention, trace, selection.head, selection.query))
    st.markdown(say("lessons.qkv.transposed"))


def show_word_alone(setup: Setup) -> None:
    """Shows the query of one word alone, against all keys: it gives the row of the matrix form."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    word = trace.labels["T"][selection.query]
    alone = replace(
        setup,
        cross=True,
        text=f"{word}|",
        context_text=setup.text,
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
