"""The lesson on distance, drawer "fixed": is a convolution an attention?"""

from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.comparison.differences import count_moved_weights
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.layout import panel
from attention_core.record.number_text import format_exact
from attention_core.variants.convolution import read_taps, with_convolution
from pages.export.page_links import link_to_workbench
from pages.lessons.distance.fixed_setups import DEFAULT_TAPS, FIXED_WEIGHT_SETUPS
from pages.lessons.pictures import (
    FIRST_SELECTION,
    SMALL_MAP_CELL_PX,
    equalize_sizes,
    make_weights_map,
    show_panels,
    show_side_by_side,
)
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.link_controls import choose_option, pick_place, sentence_box, text_box
from pages.panels.word_swaps import suggest_word, with_word
from pages.runs.cache import trace_for
from pages.session.labels import Selection, place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_fixed_weights(example: str) -> None:
    """Shows weights that are independent of the words (a kernel's, or by position alone) beside computed weights."""
    kind = choose_option("fixed", tuple(FIXED_WEIGHT_SETUPS))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(Setup(example=example), "said")
        taps = text_box(kind, DEFAULT_TAPS[kind], read_taps, width=220)
        free = trace_for(own)
        selection = selection_of(free, own)
        names = list_place_names(free, "T")
        at = pick_place("changed", names, selection.query, width=120)
        new_word = text_box("into", suggest_word(own, at), partial(with_word, own, at), width=120)
    changed = with_word(own, at, new_word)
    setup = FIXED_WEIGHT_SETUPS[kind](own, taps)
    changed_setup = FIXED_WEIGHT_SETUPS[kind](changed, taps)
    fixed = trace_for(setup)
    moved = say(
        "lessons.distance.moved",
        old=escape_markdown(names[at]),
        new=escape_markdown(new_word),
        count=fixed["weights"].numel(),
        fixed=count_moved_weights(fixed, trace_for(changed_setup), 0),
        free=count_moved_weights(free, trace_for(changed), selection.head),
    )
    st.markdown(f"**{moved}**")
    show_fixed_beside_free(fixed, free, selection, say(f"lessons.distance.map_{kind}"))
    if kind == "kernel":
        show_convolution(fixed, taps)
    link_to_workbench(setup, "fixed")


def show_fixed_beside_free(fixed: Trace, free: Trace, selection: Selection, title: str) -> None:
    """Shows the maps of the fixed weights and of a head's computed weights side by side, at equal size."""
    band = make_weights_map(
        "band",
        fixed,
        FIRST_SELECTION,
        title,
        PAGE_WIDTH_PX,
        SMALL_MAP_CELL_PX,
        outlined=False,
    )
    head = place_name(free, "H", selection.head)
    learned = make_weights_map(
        "learned",
        free,
        selection,
        say("lessons.distance.map_words", head=head),
        PAGE_WIDTH_PX,
        SMALL_MAP_CELL_PX,
    )
    show_side_by_side(*equalize_sizes(band, learned))


def show_convolution(fixed: Trace, taps: str) -> None:
    """Shows the output of a kernel's weights beside that of torch's convolution, and the largest gap."""
    trace = with_convolution(fixed, read_taps(taps))
    gap = abs_difference(trace["output"], trace["convolved"]).max().item()
    key = "nearly" if gap else "exactly"
    show_sentence(f"lessons.distance.{key}", gap=format_exact(gap))
    steps = ("output", "convolved")
    panels = [panel(trace, step) for step in steps]
    titles = [say(f"lessons.distance.title_{step}") for step in steps]
    show_panels("conv", panels, trace, titles, say("lessons.distance.alt_conv"))
