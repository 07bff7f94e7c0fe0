"""The lesson on tokens, drawer "lengths": what does a large vocabulary buy?"""

import streamlit as st

from attention_core.learned.language.shipped import load_recipe
from attention_core.learned.pieces.lengths import LENGTH_MERGES, compare_lengths, measure_lengths
from attention_core.record.number_text import format_fixed, format_grouped
from pages.lessons.sentences import show_sentence
from pages.lessons.tokens.tables import draw_table
from pages.runs.model_runs import model_sentences_of
from pages.setup.setup import Setup


def show_lengths(setup: Setup) -> None:
    """Shows how long sentences are in tokens, how many pairs that makes, and how large the table of vectors is."""
    language = load_recipe(model_sentences_of(setup).model).language
    rows = measure_lengths(language)
    first, last = rows[0], rows[-1]
    times, more = compare_lengths(rows)
    show_sentence(
        "lessons.tokens.lengths",
        characters=format_fixed(first.length, 0),
        pieces=format_fixed(last.length, 0),
        times=format_fixed(times, 1),
        more=format_grouped(more),
    )
    columns = {
        "merges": [format_grouped(merges) for merges in LENGTH_MERGES],
        "length": [format_fixed(row.length, 1) for row in rows],
        "pairs": [format_grouped(round(row.pairs)) for row in rows],
        "size": [format_grouped(row.size) for row in rows],
        "vectors": [format_grouped(row.vectors) for row in rows],
    }
    st.markdown(draw_table(list(columns.items())))
