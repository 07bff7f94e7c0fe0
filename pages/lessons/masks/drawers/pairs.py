"""Lesson 5, drawer "pairs": which pairs are kept?"""

import streamlit as st

from attention_core.explanation.facts import PairsFact, count_allowed_pairs, count_mask_pairs
from attention_core.variants.cost import count_cost
from pages.lessons.masks.drawers.padded_batch import show_padded_batch
from pages.lessons.masks.mask_maps import (
    CUSTOM_MASK,
    label_mask,
    list_shown_masks,
    named_mask_texts,
    run_all_masks,
    show_tick_map,
)
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import trace_for
from pages.setup.mask_spec import read_mask
from pages.setup.setup import Setup
from pages.site.words import say

TABLE_LENGTHS = (8, 16, 32, 64, 128, 256, 512)  # tokens of the sequences whose pairs are counted


def show_pairs(own: Setup, setup: Setup) -> None:
    """Shows how many pairs each mask keeps, or sentences of different lengths in one batch.

    own: the run without a mask; setup: the run under the reader's mask."""
    if choose_option("pairs", ("patterns", "batch")) == "patterns":
        show_patterns(own, setup)
    else:
        show_padded_batch(own)


def show_patterns(own: Setup, setup: Setup) -> None:
    """Shows the masks beside each other, the pairs that they keep, and the work that this does not save."""
    with st.container(horizontal=True):
        window = slide("window", range(1, 9), 1)
        length = slide("length", TABLE_LENGTHS, 64)
    show_pattern_maps(own, setup, window)
    free, masked = count_work_of_run(own), count_work_of_run(setup)
    show_sentence("lessons.masks.work", free=free, masked=masked)
    show_pairs_table(length, window)


def count_work_of_run(setup: Setup) -> int:
    """Counts the multiply-adds of a run."""
    cost = count_cost(trace_for(setup))
    return sum(cost.multiply_adds.values())


def show_pattern_maps(own: Setup, setup: Setup, window: int) -> None:
    """Shows every mask as a map, over which its pairs are counted."""
    masks = run_all_masks(own, setup, window)
    pairs = count_pairs_by_mask(masks.sizes()["T"], window)
    pairs[CUSTOM_MASK] = count_allowed_pairs(trace_for(setup))
    with st.container(horizontal=True, gap=None):
        for name in list_shown_masks(masks):
            title = say(
                "lessons.masks.pairs",
                name=label_mask(name),
                kept=pairs[name].kept,
                of=pairs[name].of,
            )
            with st.container(width="content"):
                show_tick_map(f"pattern_{name}", masks, f"allowed_{name}", title)


def count_pairs_by_mask(length: int, window: int) -> dict[str, PairsFact]:
    """Counts the pairs that each mask with a name keeps of so many words."""
    masks = named_mask_texts(window)
    return {name: count_mask_pairs(length, read_mask(text)) for name, text in masks.items()}


def show_pairs_table(length: int, window: int) -> None:
    """Shows how many pairs each mask with a name keeps of a longer sequence."""
    lines = [say("lessons.masks.head", length=length)]
    for name, pairs in count_pairs_by_mask(length, window).items():
        line = say(
            "lessons.masks.row",
            name=label_mask(name),
            kept=f"{pairs.kept:,}",
            of=f"{pairs.of:,}",
            share=f"{pairs.share:.2%}",
        )
        lines.append(line)
    st.markdown("\n".join(lines))
