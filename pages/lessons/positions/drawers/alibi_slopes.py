"""The lesson on positions, drawer "distance", one of its sights: what ALiBi takes away from each score."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bars import row_of
from attention_core.record.number_text import format_fixed, format_short
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_cell_rows
from pages.lessons.sentences import list_place_labels, quote_token, show_sentence
from pages.panels.link_controls import choose_option
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_alibi_slopes(setup: Setup) -> None:
    """Shows what ALiBi takes away from each score, a row a head, or the weights that equal scores then get."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = choose_option("alibi", ("bias", "weights"))
        heads = int(choose_option("alibi_heads", ("2", "4", "8"), "8", str))
    alibi = replace(
        setup,
        wiring=("bare",),
        heads=heads,
        d_k=1,
        scale=0.0,
        positions=("alibi",),
    )
    trace = trace_for(alibi)
    selection = selection_of(trace, alibi)
    rows = []
    for head, slope in enumerate(trace.step("bias").operation.params["slopes"]):
        place = (head, selection.query)
        if step == "weights":
            place = (selection.batch, *place)
        name = place_name(trace, "H", head)
        title = say("lessons.positions.slope", head=name, slope=format_short(slope, 3))
        rows.append(row_of(title, trace, step, place))
    weights = trace["weights"][selection.batch, :, selection.query]  # (H, S)
    first, last = weights[0], weights[-1]
    show_sentence(
        "lessons.positions.alibi",
        word=quote_token(trace, "T", selection.query),
        most=format_fixed(float(first.max()), 3),
        least=format_fixed(float(first.min()), 3),
        last=place_name(trace, "H", range(heads)[-1]),
        last_most=format_fixed(float(last.max()), 3),
        last_least=format_fixed(float(last.min()), 3),
    )
    show_cell_rows("alibi", rows, list_place_labels(trace, "S"), {"": trace}, trace)
    link_to_workbench(alibi, "alibi")
