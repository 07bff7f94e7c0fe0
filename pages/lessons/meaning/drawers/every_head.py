"""The lesson on meaning, drawer "every": do other heads show who is meant?"""

import streamlit as st

from attention_core.record.number_text import format_percent
from pages.lessons.meaning.networks import figures_of, name_head
from pages.lessons.meaning.told_figures import ANSWERING, find_needed_head, last_of
from pages.lessons.sentences import show_sentence
from pages.session.labels import spoken_share
from pages.site.words import say


def show_every_head(language: str) -> None:
    """Shows of each head how often it shows who is meant, and how often the answer is right without it."""
    values = {}
    for letter in ANSWERING:
        for name, value in describe_heads(letter, language).items():
            values[f"{name}_{letter}"] = value
    show_sentence("lessons.meaning.every", **values)
    st.table(make_rows(language), hide_index=True, width="content")


def describe_heads(letter: str, language: str) -> dict[str, str]:
    """The head that shows it best, and of the others the one without which the fewest answers are right."""
    figures = figures_of(letter, language)
    layer, head = find_needed_head(figures)
    return {
        "best": format_percent(max(map(max, figures.heads))),
        "own": name_head(*figures.head),
        "all": format_percent(last_of(figures.answered)),
        "needed": name_head(layer, head),
        "shown": format_percent(figures.heads[layer][head]),
        "least": format_percent(figures.without[layer][head]),
    }


def make_rows(language: str) -> list[dict[str, str]]:
    """Makes a row a head, by the heads of the table's columns."""
    rows = []
    for layer, heads in enumerate(figures_of("C", language).heads):
        for head, _ in enumerate(heads):
            row = {say("lessons.meaning.column_head"): name_head(layer, head)}
            for letter in ANSWERING:
                figures = figures_of(letter, language)
                shown = say("lessons.meaning.column_shown", network=letter)
                row[shown] = percent(figures.heads[layer][head])
                without = say("lessons.meaning.column_without", network=letter)
                row[without] = percent(figures.without[layer][head])
            rows.append(row)
    return rows


def percent(share: float) -> str:
    """A share as it stands in a table."""
    return say("train.percent", much=spoken_share(share)).strip()
