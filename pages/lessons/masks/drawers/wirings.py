"""The lesson on masks, drawer "wirings": encoder, decoder, masked words."""

from dataclasses import replace

import streamlit as st

from attention_core.analysis.future_leakage import share_ahead
from attention_core.explanation.facts import count_allowed_pairs, mean_received_share, row_fact
from attention_core.record.number_text import format_percent
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.masks.drawers.attention_sink import show_attention_sink
from pages.lessons.masks.mask_maps import show_runs_side_by_side
from pages.lessons.masks.painted_mask import allowed_text, block_key, mask_bits_of
from pages.lessons.pictures import show_weights_map
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.link_controls import pick_place, sentence_box
from pages.panels.word_swaps import with_word
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

MASK_TOKEN = "[MASK]|"  # between bars one token


def show_wirings(own: Setup, _: Setup) -> None:
    """Shows how whole models are wired: both directions; causal, then across; words hidden, not pairs; the first word.

    own: the run without a mask."""
    sights = {
        "encoder": show_encoder_wiring,
        "decoder": show_decoder_wiring,
        "masked": show_masked_word,
        "first": show_attention_sink,
    }
    show_sight = choose_sight("wiring", sights)
    show_sight(own)


def show_encoder_wiring(own: Setup) -> None:
    """Shows attention in both directions: no mask."""
    trace = trace_for(own)
    selection = selection_of(trace, own)
    pairs = count_allowed_pairs(trace)
    weights = trace["weights"][0, selection.head]  # (T, S)
    ahead = format_percent(share_ahead(weights))
    key = "encoder_random" if trace.chance else "encoder"
    show_sentence(f"lessons.masks.{key}", kept=pairs.kept, of=pairs.of, percent=ahead)
    title = place_name(trace, "H", selection.head)
    show_weights_map("encoder", trace, selection, title)


def show_decoder_wiring(_: Setup) -> None:
    """Shows causal attention to the own words, then attention to all words of another sentence."""
    with st.container(horizontal=True):
        across = sentence_box(Setup(example="cross_en_zh"), "target")
        across = sentence_box(across, "source", "context_text")
    own = replace(across, cross=False, context_text=None, masks=("causal",))
    runs = {"self": own, "cross": across}
    counts = {}
    for name, run in runs.items():
        pairs = count_allowed_pairs(trace_for(run))
        counts[f"{name}_kept"] = pairs.kept
        counts[f"{name}_of"] = pairs.of
    show_sentence("lessons.masks.decoder", **counts)
    with st.container(horizontal=True):
        for name, run in runs.items():
            trace = trace_for(run)
            selection = selection_of(trace, run)
            title = say(f"lessons.masks.title_{name}")
            with st.container(width="content"):
                show_weights_map(f"decoder_{name}", trace, selection, title)
    link_to_workbench(across, "decoder")


def show_masked_word(own: Setup) -> None:
    """Replaces a word by [MASK], which is attended to as any other; beside it, blocks its pairs instead."""
    free = trace_for(own)
    selection = selection_of(free, own)
    names = list_place_names(free, "T")
    most_attended = row_fact(free, selection.head, selection.query).keys[0]
    place = pick_place("gone", names, most_attended)
    hidden = with_word(own, place, MASK_TOKEN)
    bits = block_key(mask_bits_of(free), place)
    blocked = replace(own, allowed=allowed_text(bits, free))
    traces = {"token": trace_for(hidden), "column": trace_for(blocked)}
    values = {"word": escape_markdown(names[place])}
    for name, trace in traces.items():
        values[name] = format_percent(mean_received_share(trace, selection.head, place))
        pairs = count_allowed_pairs(trace)
        values[f"{name}_kept"] = pairs.kept
        values["of"] = pairs.of  # the same in both
    show_sentence("lessons.masks.masked", **values)
    show_runs_side_by_side("masked", traces, selection)
    link_to_workbench(hidden, "masked")
