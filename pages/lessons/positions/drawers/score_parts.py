"""The lesson on positions, drawer "parts": what in a score is about the word, what about its place?"""

from dataclasses import replace
from itertools import product

from attention_core.analysis.score_terms import SCORE_PARTS, with_score_parts
from attention_core.drawing.bars import row_of
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_cell_rows
from pages.lessons.sentences import list_place_labels, list_place_names, quote_token, show_sentence
from pages.panels.link_controls import pick_place
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_score_parts(setup: Setup) -> None:
    """Shows the four terms of one query's scores, which add up to them."""
    placed = replace(setup, wiring=("bare",), positions=("sinusoidal",), head=None)
    plain = trace_for(placed)
    heads = list_place_names(plain, "H")
    head = pick_place("parts_head", heads, len(heads) - 1, width=160)
    trace = with_score_parts(plain)
    selection = selection_of(trace, placed)
    place = (selection.batch, head, selection.query)
    rows = []
    for of_query, of_key in product(SCORE_PARTS, repeat=2):
        part = f"{of_query}_{of_key}"
        title = say(f"lessons.positions.{part}")
        rows.append(row_of(title, trace, part, place))
    title = say("lessons.positions.score")
    rows.append(row_of(title, trace, "scores", place))
    word = quote_token(trace, "T", selection.query)
    show_sentence("lessons.positions.four", word=word, head=heads[head])
    show_cell_rows("parts", rows, list_place_labels(trace, "S"), {"": trace}, trace, sums=1)
    link_to_workbench(placed, "parts")
