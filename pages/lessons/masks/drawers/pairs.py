"""The lesson on masks, drawer "pairs": which pairs are kept?"""

from itertools import product

import streamlit as st

from attention_core import Trace
from attention_core.explanation.facts import PairsFact, count_allowed_pairs, count_mask_pairs
from attention_core.variants.cost import count_cost
from pages.lessons.masks.drawers.padded_batch import show_padded_batch
from pages.lessons.masks.mask_maps import (
    CUSTOM_MASK,
    label_mask,
    list_shown_masks,
    make_tick_picture,
    named_mask_texts,
    run_all_masks,
)
from pages.lessons.pictures import RunPicture, make_live, show_run_picture
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option
from pages.panels.live_choice import LiveChoice, LiveChoices, find_live_choice, show_live_choice
from pages.panels.live_frames import tell_live
from pages.runs.cache import trace_for
from pages.setup.choice_text import read_mask
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
    window = find_live_choice("window", range(1, 9), 1)
    length = find_live_choice("length", TABLE_LENGTHS, 64)
    with st.container(horizontal=True):
        show_live_choice(window)
        show_live_choice(length)
    show_pattern_maps(own, setup, window)
    free, masked = count_work_of_run(own), count_work_of_run(setup)
    show_sentence("lessons.masks.work", free=free, masked=masked)
    places = product(length.options, window.options)
    tables = [write_pairs_table(*place) for place in places]
    tell_live(LiveChoices(follows=(length, window)), "masks_pairs", tables, "table")


def count_work_of_run(setup: Setup) -> int:
    """Counts the multiply-adds of a run."""
    cost = count_cost(trace_for(setup))
    return sum(cost.multiply_adds.values())


def show_pattern_maps(own: Setup, setup: Setup, window: LiveChoice) -> None:
    """Shows every mask as a map that follows the window, over which its pairs are counted."""
    runs = [run_all_masks(own, setup, each) for each in window.options]
    with st.container(horizontal=True, gap=None):
        for name in list_shown_masks(runs[window.position]):
            maps = [draw_pattern(name, *each, setup) for each in zip(runs, window.options, strict=True)]
            with st.container(width="content"):
                show_run_picture(make_live(window, maps, label_mask(name)))


def draw_pattern(name: str, masks: Trace, window: int, setup: Setup) -> RunPicture:
    """Draws a mask with a window. masks: the run that has it; setup: the run under the reader's mask."""
    if name == CUSTOM_MASK:
        pairs = count_allowed_pairs(trace_for(setup))
    else:
        pairs = count_pairs_by_mask(masks.sizes()["T"], window)[name]
    title = say("lessons.masks.pairs", name=label_mask(name), kept=pairs.kept, of=pairs.of)
    return make_tick_picture(f"pattern_{name}", masks, f"allowed_{name}", title)


def count_pairs_by_mask(length: int, window: int) -> dict[str, PairsFact]:
    """Counts the pairs that each mask with a name keeps of so many words."""
    masks = named_mask_texts(window)
    return {name: count_mask_pairs(length, read_mask(text)) for name, text in masks.items()}


def write_pairs_table(length: int, window: int) -> str:
    """Writes how many pairs each mask with a name keeps of a longer sequence."""
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
    return "\n".join(lines)
