"""The lesson on heads, drawer "explain": does a weight explain the output?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.dropout import with_dropout
from attention_core.comparison.differences import relative_change
from attention_core.drawing.bars import Row, row_of
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_percent
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import choose_sight
from pages.lessons.heads.drawers.gradient_times_input import show_gradient_times_input
from pages.lessons.pictures import show_cell_rows
from pages.lessons.sentences import list_place_labels, list_place_names, show_sentence
from pages.panels.link_controls import slide
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_explaining_weights(setup: Setup) -> None:
    """Shows even weights in place of the run's own, gradient x input beside them, or dropout on them."""
    sights = {"even": show_even_weights, "gradient": show_gradient_times_input, "dropout": show_dropout}
    show_sight = choose_sight("doubt", sights)
    show_sight(setup)


def show_even_weights(setup: Setup) -> None:
    """Replaces every weight by an even share, and shows what the output does."""
    even = replace(setup, wiring=("even",))
    before = trace_for(setup)
    now = trace_for(even)
    runs = {"before": before, "now": now}
    change = relative_change(now, before)
    show_sentence(
        "lessons.heads.even",
        count=now.sizes()["S"],
        change=format_percent(change),
    )
    colour = now.labels["D_out"].index("colour")
    rows = []
    for name, run in runs.items():
        title = say(f"lessons.heads.even_{name}")
        row = column_of(title, run, "output", (0,), colour, name)
        rows.append(row)
    words = list_place_labels(now, "T")
    show_cell_rows("even", rows, words, runs, now, made=colour_rows)
    link_to_workbench(even, "even")


def show_dropout(setup: Setup) -> None:
    """Shows weights of which some are dropped, and what is left of a row's 1."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    with st.container(horizontal=True):
        p = slide("p", (0.0, 0.1, 0.25, 0.5, 0.75), 0.25)
        seed = slide("seed", range(1, 21), 4)
    run = with_dropout(trace, p, seed)
    row_sums = run["row_sums"]
    show_sentence(
        "lessons.heads.dropout" if p else "lessons.heads.dropout_none",
        least=format_fixed(row_sums.min().item()),
        most=format_fixed(row_sums.max().item()),
    )
    rows = []
    for head, name in enumerate(list_place_names(trace, "H")):
        index = (selection.batch, head, selection.query)
        weights = row_of(name, run, "weights", index)
        rows.append(weights)
        dropped = make_dropped_row(run, index, name)
        rows.append(dropped)
    words = list_place_labels(trace, "S")
    names = [*words, say("lessons.heads.row_sum")]
    show_cell_rows("dropout", rows, names, {"": run}, run)


def make_dropped_row(run: Trace, index: tuple[int, int, int], head: str) -> Row:
    """Makes a row of weights of which some are dropped, with their sum behind them."""
    title = say("lessons.heads.dropped", head=head)
    dropped = row_of(title, run, "dropped_weights", index)
    row_sum = Ref("row_sums", index)
    return replace(dropped, refs=[*dropped.refs, row_sum])
