"""Shows translations of the Chinese words on a page, for visitors who read English."""

from collections.abc import Iterable

import streamlit as st

from attention_core.learned.grammar.vocabulary import gloss_words
from pages.site.words import current_language, escape_markdown, say

MAX_GLOSSED_WORDS = 40  # most translated words on a page, about three lines


def show_gloss(words: Iterable[str]) -> None:
    """Shows each Chinese word with its translation, if it has one; shows nothing on a Chinese page."""
    meanings = gloss_words(words) if current_language() != "zh" else {}
    if not meanings:
        return
    pairs = []
    for word, meaning in [*meanings.items()][:MAX_GLOSSED_WORDS]:
        pairs.append(say("gloss.pair", word=escape_markdown(word), meaning=escape_markdown(meaning)))
    st.caption(say("gloss.line", pairs=say("gloss.between").join(pairs)))
