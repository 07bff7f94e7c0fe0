"""The lesson on positions, drawer "distance", one of its sights: RoPE turns both pairs of a query and of a key."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.rope_rotations import rope_rotation, with_shifted_positions
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.arrows import Arrow, arrow_plane
from attention_core.record.number_text import format_fixed
from pages.export.page_links import link_to_workbench
from pages.lessons.positions.rope import ROTATION_STYLES, with_rope
from pages.lessons.sentences import format_gap, list_place_names, show_sentence
from pages.panels.chart import show_plane_chart
from pages.panels.link_controls import choose_option, pick_place, slide
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, name_token, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_rotation(setup: Setup) -> None:
    """Shows both pairs of the query and of a key, turned by their positions; their distance alone decides the score."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rope = with_rope(setup, choose_option("style", ROTATION_STYLES))
        start = trace_for(rope)
        selection = selection_of(start, rope)
        row = (selection.batch, selection.head, selection.query)
        names = list_place_names(start, "S")
        unturned = trace_for(replace(rope, positions=None))
        matches = unturned["scores"][row]  # (S,)
        key = pick_place("key", names, int(matches.argmax()), width=160)
        shift = slide("further", range(0, 21), 0)
    trace = with_shifted_positions(start, shift)
    moved = abs_difference(trace["scores"], start["scores"]).max()
    show_sentence(
        "lessons.positions.turned",
        query=escape_markdown(names[selection.query]),
        key=escape_markdown(names[key]),
        match=format_fixed(float(matches[key])),
        score=format_fixed(float(trace["scores"][row][key])),
        gap=format_gap(float(moved)),
    )
    with st.container(horizontal=True, gap="medium"):
        for pair, name in enumerate(("first", "second")):
            with st.container(width="content"):
                show_rotated_pair(trace, selection, key, pair, name)
    link_to_workbench(rope, "rope")


def show_rotated_pair(trace: Trace, selection: Selection, key: int, pair: int, name: str) -> None:
    """Shows one pair of the query and of a key, before they were turned and after."""
    q_place = (selection.batch, selection.head, selection.query)
    k_place = (selection.batch, selection.kv, key)
    q_turn = rope_rotation(trace, "q", q_place, pair)
    k_turn = rope_rotation(trace, "k", k_place, pair)
    show_sentence(
        f"lessons.positions.{name}_pair",
        q=format_fixed(q_turn.angle),
        k=format_fixed(k_turn.angle),
    )
    if q_turn.before == k_turn.before == (0.0, 0.0):
        show_sentence("lessons.positions.empty_pair")
        return
    query_word = name_token(trace, "T", selection.query)
    key_word = name_token(trace, "S", key)
    palette = current_palette()
    arrows = [
        Arrow("", *q_turn.before, palette.q, faint=True),
        Arrow(f"q: {query_word}", *q_turn.after, palette.q, q_turn.angle),
        Arrow("", *k_turn.before, palette.k, faint=True),
        Arrow(f"k: {key_word}", *k_turn.after, palette.k, k_turn.angle),
    ]
    picture = arrow_plane(arrows, palette)
    alt = say(f"lessons.positions.{name}_alt")
    show_plane_chart(picture, f"positions_{name}", alt)
