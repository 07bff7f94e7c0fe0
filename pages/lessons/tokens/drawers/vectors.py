"""The lesson on tokens, drawer "vectors": how does a token become numbers?"""

import streamlit as st

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.record.number_text import format_fixed, format_grouped
from pages.export.page_links import link_to_workbench
from pages.lessons.sentences import show_sentence
from pages.lessons.tokens.tables import draw_table
from pages.panels.link_controls import pick_place
from pages.runs.model_runs import model_sentences_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown

SHOWN_NUMBERS = 8  # of a vector


def show_vectors(setup: Setup) -> None:
    """Shows the number of a word, and the row of the table that is its vector."""
    kind = model_sentences_of(setup)
    language = load_recipe(kind.model).language
    read = kind.read(kind.own_words())
    place = pick_place("token", list(kind.own_words()), 1)
    number = word_numbers(language)[read[place]]
    row = load_model(kind.model).words[number]
    show_sentence(
        "lessons.tokens.vector",
        token=escape_markdown(read[place]),
        number=format_grouped(number),
        size=format_grouped(len(vocabulary(language))),
        width=len(row),
        shown=SHOWN_NUMBERS,
    )
    numbers = [format_fixed(value) for value in row[:SHOWN_NUMBERS].tolist()]
    columns = [str(column) for column in range(1, len(numbers) + 1)]
    st.markdown(draw_table([("column", columns), ("row", numbers)]))
    link_to_workbench(setup, "vectors")
