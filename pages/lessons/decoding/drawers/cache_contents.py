"""The lesson on decoding, drawer "kept": what is in the cache?"""

from dataclasses import replace

from attention_core.record.number_text import format_exact
from attention_core.variants.kv_cache import gap_to_full
from pages.export.page_links import link_to_workbench
from pages.lessons.decoding.drawers.linear_state import show_linear_state
from pages.lessons.decoding.written import Written
from pages.lessons.frame import choose_sight
from pages.lessons.pictures import show_step_picture
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import decoding_steps_for, trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup

SENTENCES = {"model_en_decoder": "en_it_causal", "model_zh_decoder": "zh_ta"}  # built by hand, by lesson example


def show_what_is_kept(written: Written) -> None:
    """Shows what a decoder keeps of a short sentence: keys and values, or a state of fixed size.

    The example is built by hand, so that its numbers are readable. written: decides its language."""
    example = SENTENCES[written.setup.example]
    show_sight = choose_sight("what", {"keys": show_cache_contents, "state": show_linear_state})
    show_sight(Setup(example=example, masks=("causal",)))


def show_cache_contents(setup: Setup) -> None:
    """Shows the numbers in the cache at a step, and how positions change them."""
    kind = choose_option("positions", ("none", "rope", "alibi"))
    positions = None if kind == "none" else (kind,)
    placed = replace(setup, positions=positions)
    steps = decoding_steps_for(placed)
    full = trace_for(placed)
    selection = selection_of(full, placed)
    gap = gap_to_full(steps, full, "k")
    word = quote_token(full, "T", selection.query)
    show_sentence(f"lessons.decoding.kept_{kind}", gap=format_exact(gap), word=word)
    alone = steps[selection.query]
    selection_alone = replace(selection, query=0)  # a decoding step has one query
    show_step_picture("cache", alone, "k", selection_alone)
    if kind == "alibi":
        show_step_picture("bias", alone, "biased_scores", selection_alone)
    link_to_workbench(placed, "kept")
