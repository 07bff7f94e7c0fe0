"""The lesson on masks, drawer "future", one of its sights: what is read and what is to be said, one word apart."""

import streamlit as st

from attention_core.analysis.copying import count_copied
from attention_core.learned.language.guessing import next_word_chances
from attention_core.learned.language.removed_parts import count_words_alike, read_removed_figures
from attention_core.record.number_text import format_fixed, format_grouped
from pages.export.page_links import link_to_workbench
from pages.lessons.sentences import show_sentence
from pages.lessons.trained_model import EXAMPLES, MODELS, tell_blind
from pages.panels.link_controls import sentence_box
from pages.panels.markdown_table import make_table
from pages.panels.model_guess import show_guess_sign
from pages.runs.model_runs import model_sentences_of
from pages.setup.setup import Setup
from pages.site.words import current_language, escape_markdown, say


def show_shifted_targets(_own: Setup, _setup: Setup) -> None:
    """Shows what a model that writes reads at each place, what it is to say there, and how probable it holds that."""
    setup = sentence_box(Setup(example=EXAMPLES[current_language()]), "said")
    show_guess_sign(setup)
    kind = model_sentences_of(setup)
    words = kind.own_words()
    chances = next_word_chances(kind.model, kind.read(words))
    read, wanted = words[:-1], words[1:]
    st.markdown(say("lessons.masks.shifted", first=escape_markdown(read[0]), second=escape_markdown(wanted[0])))
    st.markdown(draw_table(read, wanted, chances))
    say_copying(words)
    figures = read_removed_figures()[MODELS[current_language()]]
    closed = say(
        "lessons.masks.diagonal",
        count=format_grouped(figures.words),
        whole=format_fixed(figures.whole),
        closed=format_fixed(figures.diagonal),
        whole_alike=format_grouped(count_words_alike(figures.whole)),
        closed_alike=format_grouped(count_words_alike(figures.diagonal)),
    )
    st.markdown("".join((closed, tell_blind({"closed": figures.diagonal}))))
    link_to_workbench(setup, "shifted")


def say_copying(words: tuple[str, ...]) -> None:
    """Says how far a layer comes that has learned nothing and passes on what it reads."""
    copied = count_copied(words)
    show_sentence(
        "lessons.masks.copied",
        same=copied.same,
        rows=copied.rows,
        shifted=copied.shifted,
        others=copied.shifted_rows,
    )


def draw_table(read: tuple[str, ...], wanted: tuple[str, ...], chances: list[float]) -> str:
    """A table in Markdown: a column for each place, with what is read, what is to be said, and its chance."""
    places = [say("lessons.masks.row_place"), *map(str, range(1, len(read) + 1))]
    lines = {
        "read": map(escape_markdown, read),
        "wanted": map(escape_markdown, wanted),
        "chance": map(format_fixed, chances),
    }
    rows = []
    for name, cells in lines.items():
        title = say(f"lessons.masks.row_{name}")
        rows.append([f"**{title}**", *cells])
    return make_table(places, rows)
