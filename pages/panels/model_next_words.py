"""Shows the likeliest next words of a causal language model beside its sentence; a click on one appends it."""

import streamlit as st

from attention_core.record.number_text import format_percent
from pages.panels.model.words import CATEGORY, make_word_rows, sentence_change, view_words
from pages.panels.model_rail import words_of_model
from pages.panels.setup_controls import try_made_change
from pages.runs.model_runs import model_of, model_sentences_of
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.model_fields import WORD_CHOICE_ENDS
from pages.site.words import escape_markdown, say

MOST_WORDS = 4  # most next words to show


def words_so_far(screen: ScreenState) -> tuple[str, ...] | None:
    """Returns the words up to the selected one; None if no causal language model of this app reads the sentence."""
    words, model = words_of_model(screen), model_of(screen.setup.run)
    if words is None or not (model.causal and model.reads_all):
        return None
    return words[: screen.selection.query + 1]


def next_word_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the next words depend: the model, the words so far, and the settings of sampling."""
    words = words_so_far(screen)
    if words is None:
        return ()
    choices = [screen.setup.value_of(name) for name in WORD_CHOICE_ENDS]
    return (model_sentences_of(screen.setup.run).model, words, *choices)


@page_part(next_word_dependencies)
def show_next_words(screen: ScreenState) -> None:
    """Shows the likeliest next words after the selected word, each as a button that appends it to the sentence.

    Tokens that stand for a category of words are left out, because no sentence can contain them.
    """
    words = words_so_far(screen)
    if words is None:
        return
    rows = make_word_rows(view_words(screen, words, words))
    likely = [row for row in rows if not CATEGORY.fullmatch(row["word"])]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="next_words"):
        st.markdown(say("words.next.after", word=escape_markdown(words[-1])), width="content")
        for number, row in enumerate(likely[:MOST_WORDS]):
            word = row["word"]
            st.button(
                say("words.next.word", word=escape_markdown(word), percent=format_percent(row["share"])),
                key=f"next_word_{number}",
                help=say("words.next.write"),
                on_click=write_next,
                args=(screen, (*words, word)),
            )


def write_next(screen: ScreenState, words: tuple[str, ...]) -> None:
    """Makes these words the sentence and selects the last one, after a click on a next word."""
    try_made_change("text", lambda: sentence_change(screen, words))
