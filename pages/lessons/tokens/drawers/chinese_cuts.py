"""The lesson on tokens, drawer "chinese": where does a Chinese word end?"""

import streamlit as st

from attention_core.learned.grammar.cut_words import match_longest
from pages.lessons.sentences import show_sentence
from pages.lessons.tokens.tables import draw_table
from pages.panels.link_controls import choose_options
from pages.setup.setup import Setup

AMBIGUOUS = "研究生命起源"  # to study the origin of life; or: a research student's life, origin
OFFERED_WORDS = {"study": "研究", "student": "研究生", "life": "生命", "origin": "起源"}


def show_chinese_cuts(_: Setup) -> None:
    """Shows one text cut by the longest words of a dictionary that the reader chooses, and by character."""
    names = choose_options("dictionary", tuple(OFFERED_WORDS), tuple(OFFERED_WORDS))
    words = frozenset(OFFERED_WORDS[name] for name in names)
    cuts = {
        "longest": match_longest(AMBIGUOUS, words),
        "without": match_longest(AMBIGUOUS, words.difference([OFFERED_WORDS["student"]])),
        "character": tuple(AMBIGUOUS),
    }
    show_sentence("lessons.tokens.chinese", text=AMBIGUOUS)
    for name, tokens in cuts.items():
        st.markdown(draw_table([(name, tokens)]))
