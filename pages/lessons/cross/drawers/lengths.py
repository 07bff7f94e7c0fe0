"""The lesson on cross-attention, drawer "lengths": what if the lengths differ?"""

import streamlit as st

from attention_core import Trace
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.facts import weight_sums
from pages.export.page_links import link_to_workbench
from pages.lessons.cross.sequences import ask_itself, make_random_sequences
from pages.lessons.cross.weight_sums import join_named_sums, join_sums
from pages.lessons.pictures import show_weights_map
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

RANDOM_LENGTHS = range(1, 13)
STEPS_WITH_SHAPES = ("q", "k", "v", "weights", "output")


def show_lengths(asked: Setup) -> None:
    """Shows two sequences, one, or random ones of any lengths: which axis is which, and which sums are 1.

    asked: the run of the reader's two sentences."""
    setup = choose_sequences(asked)
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    say_shapes(trace)
    rows = join_sums_over(trace, "S", "T", selection.head)
    columns = join_sums_over(trace, "T", "S", selection.head)
    key = "sums" if trace.sizes()["S"] > 1 else "sums_of_one_key"
    show_sentence(f"lessons.cross.{key}", rows=rows, columns=columns)
    head = place_name(trace, "H", selection.head)
    title = say("lessons.cross.head", head=head)
    show_weights_map("lengths", trace, selection, title, PAGE_WIDTH_PX)
    link_to_workbench(setup, "lengths")


def choose_sequences(asked: Setup) -> Setup:
    """Asks which sequences are shown; of random ones, how long they are."""
    kind = choose_option("sequences", ("two", "one", "random"))
    if kind == "two":
        return asked
    if kind == "one":
        return ask_itself(asked)
    left, right = st.columns(2)
    with left:
        queries = slide("queries", RANDOM_LENGTHS, 5)
    with right:
        keys = slide("keys", RANDOM_LENGTHS, 6)
    return make_random_sequences(queries, keys)


def say_shapes(trace: Trace) -> None:
    """Says how many queries and keys there are, and which shapes that makes."""
    sizes = trace.sizes()
    by = say("lessons.cross.by")
    shapes = {}
    for step in STEPS_WITH_SHAPES:
        numbers = trace.step(step).shape[1:]  # without the batch
        shapes[step] = by.join(map(str, numbers))
    show_sentence("lessons.cross.shapes", T=sizes["T"], S=sizes["S"], H=sizes["H"], **shapes)


def join_sums_over(trace: Trace, axis: str, names_of: str, head: int) -> str:
    """Joins the sums of a head's weights over an axis, each behind the word of the other axis.

    Where vectors are random the words are left out: what a key gets says nothing about its word then."""
    sums = weight_sums(trace, axis, head)
    if trace.chance:
        return join_sums(sums)
    return join_named_sums(sums, list_place_names(trace, names_of))
