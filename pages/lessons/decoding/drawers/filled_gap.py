"""The lesson on decoding, drawer "middle": can a decoder fill a gap?"""

import streamlit as st

from attention_core.learned.language.gap_words import guess_from_both, guess_from_left, try_words
from attention_core.learned.language.middle_figures import MIDDLE_LANGUAGE, read_middle_figures
from attention_core.learned.language.shipped import other_form
from attention_core.record.number_text import format_fixed, format_grouped, format_percent
from pages.lessons.decoding.written import Written, choose_gap
from pages.lessons.sentences import show_sentence
from pages.panels.word_shares import show_word_shares
from pages.runs.model_runs import model_vocabulary
from pages.site.words import escape_markdown, say

MOST_SHOWN, LEAST_SHOWN = 5, 0.001  # candidates for the gap: largest number, smallest probability
TRIED = 50  # how many words the decoder tries


def show_filled_gap(written: Written) -> None:
    """Shows predictions for a hidden word from the left, by trying words, and from both sides; then the
    fill-in-the-middle order that lets a decoder read both sides."""
    with st.container(width=300):
        at = choose_gap(written)
    show_readers(written, at)
    show_order(written, at)
    tell_kept_figures()


def show_readers(written: Written, at: int) -> None:
    """Shows each reader's likeliest words for the gap, and the probability of the hidden word. at: its index."""
    name, tokens = written.name, written.tokens
    readers = {
        "left": guess_from_left(name, tokens, at),
        "tried": try_words(name, tokens, at, TRIED),
        "both": guess_from_both(other_form(name), tokens, at),
    }
    percents = {reader: format_percent(guess.own) for reader, guess in readers.items()}
    count = len(readers["tried"].numbers)
    show_sentence("lessons.decoding.gap", word=escape_markdown(written.words[at]), count=count, **percents)
    vocabulary = model_vocabulary(name)
    with st.container(horizontal=True, gap="large"):
        for reader, guess in readers.items():
            words = [(vocabulary[number], share) for number, share in guess.likeliest(MOST_SHOWN, LEAST_SHOWN)]
            with st.container(width=300):
                st.markdown(f"**{say(f'lessons.decoding.reader.{reader}')}**")
                show_word_shares(words, f"decoding_gap_{reader}")


def show_order(written: Written, at: int) -> None:
    """Shows the text in the order prefix, suffix, middle."""
    show_sentence("lessons.decoding.order")
    st.code(" ".join(written.moved(at)), language=None, wrap_lines=True)


def tell_kept_figures() -> None:
    """Shows the measured figures on held-out English texts, including a decoder trained on that order."""
    figures = read_middle_figures()[MIDDLE_LANGUAGE]
    values = {}
    for name in ("left", "both", "before", "order"):
        share, first = getattr(figures, name)
        values[name] = format_percent(share)
        values[f"{name}_first"] = format_percent(first)
    own, ordered = map(format_fixed, figures.nats)
    counts = {"texts": format_grouped(figures.texts), "steps": format_grouped(figures.steps)}
    show_sentence("lessons.decoding.middle", own=own, ordered=ordered, **counts, **values)
