"""The word that a translator generates from the selected row, whose query attends to the words of the source
sentence.
"""

import streamlit as st

from attention_core.learned.translation.reading import next_words, translate_words
from attention_core.record.number_text import format_percent
from pages.runs.compute import sentences_of
from pages.runs.made_sentences import TranslatedSentences
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.site.words import escape_markdown, say


def translation_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The run and the selected row; () if no translator is used."""
    kind = translated_sentences_of(screen)
    return () if kind is None else (screen.setup.run, screen.selection.query)


def translated_sentences_of(screen: ScreenState) -> TranslatedSentences | None:
    """The sentences of a translator's run; None if no translator is used, or if rows are not words."""
    kind = sentences_of(screen.setup.run)
    return kind if isinstance(kind, TranslatedSentences) and "x" not in kind.typed else None


@page_part(translation_dependencies)
def show_translation(screen: ScreenState) -> None:
    """Shows the word that the translator generates from the selected row; also the translator's own translation, if the
    reader typed another one.
    """
    kind = translated_sentences_of(screen)
    if kind is None:
        return
    source, target, row = kind.source_words(), kind.own_words(), screen.selection.query
    word, share = next_words(kind.translator, source, target)[row]
    is_end = word == target[0]
    told = say(
        "translation.ends" if is_end else "translation.writes",
        row=escape_markdown(target[row]),
        word=escape_markdown(word),
        percent=format_percent(share),
    )
    own = translate_words(kind.translator, source)
    if own != target:
        told += " " + say("translation.own", text=escape_markdown(kind.spell(own)))
    st.caption(told)
