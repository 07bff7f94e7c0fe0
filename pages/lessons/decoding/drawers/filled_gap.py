"""The lesson on decoding, drawer "middle": can a decoder fill a gap?"""

import streamlit as st
import torch
from torch import Tensor

from attention_core.learned.language.middle_figures import MIDDLE_LANGUAGE, read_middle_figures
from attention_core.learned.language.middle_order import put_middle_last
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe, other_form
from attention_core.learned.language.tried_words import try_words
from attention_core.learned.language.writing import blank_word
from attention_core.record.number_text import format_fixed, format_grouped, format_percent
from attention_core.transformer.stack import UNEMBEDDING
from pages.lessons.decoding.written import Written
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import pick_place
from pages.panels.word_shares import show_word_shares
from pages.runs.model_runs import model_vocabulary
from pages.site.words import escape_markdown, say

MOST_SHOWN = 5  # words that may stand in the gap
TRIED = 50  # words that the decoder tries
FIRST_GAPS = {"en": "did", "zh": "没"}  # the word that is hidden at first, where the text has it


def show_filled_gap(written: Written) -> None:
    """Shows what stands in a gap for who reads one side, for who tries words, and for who reads both; then the order
    that lets a decoder read both."""
    language = load_recipe(written.name).language
    words = written.words[1:]
    usual = words.index(FIRST_GAPS[language]) if FIRST_GAPS[language] in words else len(words) // 2
    with st.container(width=300):
        at = 1 + pick_place("gap", words, usual)
    show_readers(written, at)
    show_order(written, at)
    tell_kept_figures()


def show_readers(written: Written, at: int) -> None:
    """Shows the likeliest words in the gap, and what the one that stood there gets. at: its place."""
    name, tokens = written.name, written.tokens
    tried = try_words(name, tokens, at, TRIED)
    own = int(tried.numbers[0])
    left = run_model(name, tokens[:at])[UNEMBEDDING]["probabilities"][0, -1]  # (V)
    both = run_model(other_form(name), blank_word(tokens, at))[UNEMBEDDING]["probabilities"][0, at]  # (V)
    every_word = torch.arange(len(left))
    readers = {"left": (left, every_word), "tried": (tried.shares, tried.numbers), "both": (both, every_word)}
    values = {"left": left[own], "tried": tried.shares[0], "both": both[own]}
    percents = {reader: format_percent(float(share)) for reader, share in values.items()}
    word = escape_markdown(written.words[at])
    show_sentence("lessons.decoding.gap", word=word, count=len(tried.numbers), **percents)
    with st.container(horizontal=True, gap="large"):
        for reader, (shares, numbers) in readers.items():
            with st.container(width=300):
                st.markdown(f"**{say(f'lessons.decoding.reader.{reader}')}**")
                show_word_shares(list_likeliest(shares, numbers, model_vocabulary(name)), f"decoding_gap_{reader}")


def list_likeliest(shares: Tensor, numbers: Tensor, vocabulary: tuple[str, ...]) -> list[tuple[str, float]]:
    """The likeliest words with their probabilities. numbers: of the words that have shares."""
    largest = shares.topk(MOST_SHOWN)
    words = [vocabulary[number] for number in numbers[largest.indices].tolist()]
    return list(zip(words, largest.values.tolist(), strict=True))


def show_order(written: Written, at: int) -> None:
    """Shows the text in the order in which the middle stands last."""
    show_sentence("lessons.decoding.order")
    st.code(" ".join(put_middle_last(written.words, at, at + 1)), language=None, wrap_lines=True)


def tell_kept_figures() -> None:
    """Tells what was measured on held-out English texts, of a decoder that learned the order, too."""
    figures = read_middle_figures()[MIDDLE_LANGUAGE]
    values = {}
    for name in ("left", "both", "before", "order"):
        share, first = getattr(figures, name)
        values[name] = format_percent(share)
        values[f"{name}_first"] = format_percent(first)
    own, ordered = map(format_fixed, figures.nats)
    counts = {"texts": format_grouped(figures.texts), "steps": format_grouped(figures.steps)}
    show_sentence("lessons.decoding.middle", own=own, ordered=ordered, **counts, **values)
