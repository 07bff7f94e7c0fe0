"""The lesson on masks, drawer "pairs", one of its sights: sentences of different lengths in one batch."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.comparison.batch_alone import largest_batch_difference
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import accident_at
from attention_core.record.number_text import format_percent
from attention_core.verification.mask_conventions import without_padding_mask
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_weights_map
from pages.lessons.sentences import format_gap, quote_token, show_sentence
from pages.panels.link_controls import check_lesson_tokens, choose_option, switch, text_box
from pages.runs.cache import inputs_of, trace_for
from pages.runs.run_inputs import PAD_WORD
from pages.runs.separate_runs import run_sentences_alone
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_padded_batch(own: Setup) -> None:
    """Shows two sentences of different lengths in one batch, what fills up the shorter one hidden or not."""
    shipped = EXAMPLES[own.example].batch.splitlines()[-1]

    def check(text: str) -> None:
        check_lesson_tokens(inputs_of(replace(own, more=text)).queries)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = text_box("other", shipped, check)
        kind = choose_option("with", ("padding", "both"))
        hidden = switch("hidden", True)
    together = replace(own, more=other, masks=("causal",) if kind == "both" else None)
    say_farthest_step(together, hidden)
    head = selection_of(trace_for(own), own).head
    first = replace(together, sentence=0, head=head)
    second = replace(together, sentence=1, head=head, token=None)
    with st.container(horizontal=True):
        for number, setup in enumerate((first, second)):
            with st.container(width="content"):
                show_padded_sentence(f"batch_{number}", setup, hidden)
    link_to_workbench(together, "batch")


def say_farthest_step(together: Setup, hidden: bool) -> None:
    """Says how far the numbers of a batch are from those that its sentences have alone."""
    step, gap = largest_batch_difference(run_with_padding(together, hidden), run_sentences_alone(together))
    found = "exact"
    if gap:
        found = "alone" if hidden else "seen"
    show_sentence(f"lessons.masks.{found}", step=escape_markdown(step), gap=format_gap(gap))


def run_with_padding(setup: Setup, hidden: bool) -> Trace:
    """The run of a batch, what fills it up hidden or not."""
    trace = trace_for(setup)
    return trace if hidden else without_padding_mask(trace)


def show_padded_sentence(name: str, setup: Setup, hidden: bool) -> None:
    """Shows one sentence of the batch as a map, and what its word that asks gives to what fills it up."""
    trace = run_with_padding(setup, hidden)
    selection = selection_of(trace_for(setup), setup)
    show_weights_map(name, trace, selection, place_name(trace, "B", selection.batch))
    shares = trace.step("weights").window(
        B=selection.batch,
        H=selection.head,
        T=selection.query,
    )  # (S,)
    to_padding = []
    for share, word in zip(shares, trace.labels["S"], strict=True):
        if word == PAD_WORD:
            to_padding.append(share)
    lost = sum(to_padding)
    is_random = lost and accident_at(trace, selection.query, ())
    text = "to_padding_random" if is_random else "to_padding"
    query = quote_token(trace, "T", selection.query)
    st.caption(say(f"lessons.masks.{text}", query=query, percent=format_percent(lost)))
