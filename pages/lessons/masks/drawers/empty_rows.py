"""The lesson on masks, drawer "nothing": what if a row may look at nothing?"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.empty_rows import EMPTY_ROW_POLICIES, with_empty_row_policy
from attention_core.analysis.future_leakage import with_moved_rows
from attention_core.drawing.bars import Row, row_of
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.masks.drawers.mask_misreadings import show_mask_conventions, show_misplaced_axis
from pages.lessons.masks.painted_mask import Bits, allowed_text, block_query, find_empty_row, mask_bits_of
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import format_gap, list_place_names, show_sentence
from pages.panels.link_controls import choose_option, pick_place
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

EMPTY_ROW_BARS_PX = 46.0  # pixels: the height of the bars, of which five rows stand below each other


def show_nothing(own: Setup, setup: Setup) -> None:
    """Shows a row without an allowed key, a mask read by the other convention, or a mask with an axis misplaced.

    own: the run without a mask; setup: the run under the reader's mask."""
    sights = {
        "row": show_empty_row,
        "conventions": show_mask_conventions,
        "axes": show_misplaced_axis,
    }
    show_sight = choose_sight("nothing", sights)
    show_sight(own, setup)


def show_empty_row(own: Setup, setup: Setup) -> None:
    """Blocks one row of the reader's mask as a whole, and shows it as five kinds of code treat it."""
    trace = trace_for(setup)
    selection = selection_of(trace_for(own), own)
    names = list_place_names(trace, "T")
    empty = find_empty_row(trace)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = pick_place("row", names, selection.query if empty is None else empty)
        dtype = choose_option("dtype", ("float64", "float32", "float16"))
    bits = block_query(mask_bits_of(trace), row)
    masked = replace(own, allowed=allowed_text(bits, trace), dtype=dtype)
    place = (0, selection.head, row)
    runs = {}
    rows = []
    for policy in EMPTY_ROW_POLICIES:
        runs[policy] = with_empty_row_policy(trace_for(masked), policy)
        title = say(f"lessons.masks.treated_{policy}", dtype=dtype)
        row_of_policy = row_of(title, runs[policy], "weights", place, policy)
        rows.append(row_of_policy)
    word = escape_markdown(names[row])
    show_sentence("lessons.masks.treated", word=word, **count_policies(rows))
    alt = say("lessons.masks.treated_alt")
    show_bar_rows("row", rows, names, runs, trace, alt, height=EMPTY_ROW_BARS_PX)
    gap = largest_gap_of_other_rows(runs, bits)
    show_sentence("lessons.masks.others", gap=format_gap(gap))
    link_to_workbench(masked, "row")


def count_policies(rows: list[Row]) -> dict[str, int]:
    """Counts the policies under which blocked words get a share, and those under which a NaN comes out.

    rows: the same row of weights under each policy."""
    leaking = []
    lost = []
    for row in rows:
        if any(value > 0 for value in row.values):
            leaking.append(row)
        if any(value != value for value in row.values):  # a NaN is not equal to itself
            lost.append(row)
    return {"seen": len(leaking), "lost": len(lost)}


def largest_gap_of_other_rows(runs: Mapping[str, Trace], bits: Bits) -> float:
    """How far the outputs of words that may attend to something lie apart under two policies."""
    filled = [query for query, row in enumerate(bits) if "1" in row]
    gaps = []
    for run in runs.values():
        moved = with_moved_rows(run, runs["zero"])["moved"][0]  # (T,)
        gaps.extend(moved[filled].tolist())
    return max(gaps, default=0.0)
