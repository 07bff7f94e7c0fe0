"""The lesson on heads, drawer "explain", one of its sights: gradient x input beside the weights."""

import streamlit as st

from attention_core import Trace
from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.drawing.bars import row_of
from attention_core.explanation.facts import accident_at
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed
from pages.lessons.pictures import show_cell_rows
from pages.lessons.sentences import list_place_labels, list_place_names, quote_token, show_sentence
from pages.panels.link_controls import pick_place
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say


def show_gradient_times_input(setup: Setup) -> None:
    """Shows for one number of the output the weight of each word, and what the number does if the word changes."""
    trace = trace_for(setup)
    selection = selection_of(trace, setup)
    numbers = list_place_names(trace, "D_out")
    heads = list_place_names(trace, "H")
    with st.container(horizontal=True):
        number = pick_place("number", numbers, 0, width=220)
        head = pick_place("beside", heads, len(heads) - 1, width=160)
    cell = Ref("output", (selection.batch, selection.query, number))
    run = gradient_times_input(trace, cell)
    row = (selection.batch, head, selection.query)
    say_deepest_word(trace, run, row, numbers[number])
    show_weights_and_gradient(run, row, heads[head])


def say_deepest_word(trace: Trace, run: Trace, row: tuple[int, int, int], number: str) -> None:
    """Says which word has the largest weight in a row, and on which word a number of the output hangs most.

    run: the run of the trace with gradient x input behind it. row: its sentence, head and query."""
    batch, head, query = row
    weights = run["weights"][row]  # (S,)
    slopes = run["gradient_x_input"][batch]  # (S,)
    most = int(weights.argmax())
    deepest = int(slopes.abs().argmax())
    names = list_place_names(trace, "S")
    kind = "same" if most == deepest else "other"
    if accident_at(trace, query, [most]):
        kind = "random"
    show_sentence(
        f"lessons.heads.gradient_{kind}",
        head=place_name(trace, "H", head),
        number=number,
        word=quote_token(trace, "T", query),
        most=escape_markdown(names[most]),
        share=format_fixed(weights[most].item()),
        deepest=escape_markdown(names[deepest]),
        slope=format_fixed(slopes[deepest].item()),
    )


def show_weights_and_gradient(run: Trace, row: tuple[int, int, int], head: str) -> None:
    """Shows the weights of a row, and below them gradient x input of the same words."""
    weights_title = say("lessons.heads.weights_of", head=head)
    weights = row_of(weights_title, run, "weights", row)
    gradient_title = say("lessons.heads.slopes")
    gradient = row_of(gradient_title, run, "gradient_x_input", row[:1])
    names = list_place_labels(run, "S")
    show_cell_rows("gradient", [weights, gradient], names, {"": run}, run)
