"""The lesson on decoding, drawer "same": is it the same attention?"""

from dataclasses import replace

from attention_core.record.number_text import format_exact
from attention_core.variants.kv_cache import gap_to_full
from pages.lessons.pictures import show_step_picture
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import decoding_steps_for, trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup

COMPARED_DECODING_STEPS = ("weights", "head_outputs", "output")


def show_same_attention(setup: Setup) -> None:
    """Shows a step alone, with its cache, and the row of the full causal pass."""
    full = trace_for(setup)
    steps = decoding_steps_for(setup)
    selection = selection_of(full, setup)
    compared = choose_option("form", COMPARED_DECODING_STEPS)
    gap = gap_to_full(steps, full, compared)
    show_sentence(
        "lessons.decoding.same",
        word=quote_token(full, "T", selection.query),
        T=len(steps),
        gap=format_exact(gap),
    )
    alone = steps[selection.query]
    selection_alone = replace(selection, query=0)  # a step of its own has one query
    show_step_picture("alone", alone, compared, selection_alone)
    show_step_picture("full", full, compared, selection)
