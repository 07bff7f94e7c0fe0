"""Draws the lesson on queries, keys and values: the same row of weights without and with projections."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import row_of
from attention_core.drawing.palette import shade_cells
from attention_core.explanation.projections import find_row_product
from attention_core.inputs.matrix_values import REMOVED
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed
from pages import components
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_bar_rows, show_lesson_journey
from pages.lessons.prompts import predict
from pages.lessons.qkv.drawers import LESSON
from pages.lessons.sentences import list_place_names
from pages.panels.fact import show_fact
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.runs.sentences import PROJECTIONS
from pages.session.collected import show_moving
from pages.session.labels import Selection, current_palette, place_name, selection_of
from pages.site.words import get_text_template, say

WITHOUT_PROJECTIONS = {**dict.fromkeys(PROJECTIONS, REMOVED), "heads": 1, "scale": 1.0}


# ---- query, key and value: each is a word's row times one matrix -----------------------------------------------------
ROLES = ("q", "k", "v")
PICTURE_TEXTS = ("sum", "choose", "hint", "hint_touch", "alt")


def show_product(trace: Trace, selection: Selection, word: str) -> None:
    """Shows the product x W of the selected query; the browser switches between W_q, W_k and W_v without a request to
    the server.
    """
    texts = {name: get_text_template(f"lessons.qkv.product.{name}") for name in PICTURE_TEXTS}
    data = {
        "word": word,
        "names": [place_name(trace, "D", place) for place in range(trace.sizes()["D"])],
        "roles": {role: describe_role(trace, selection, role) for role in ROLES},
        "palette": vars(current_palette()),
        "text": texts,
    }
    show_moving(components.row_product, data=data, key="qkv_product")


def describe_role(trace: Trace, selection: Selection, role: str) -> dict[str, object]:
    """Returns the data of one projection for the browser component: the row of x, the matrix and the result.

    role: "q", "k" or "v".
    """
    head = selection.head if role == "q" else selection.kv
    product = find_row_product(trace, role, (selection.batch, head, selection.query))
    rows = [product.row, *product.matrix, product.result]
    reach = max(abs(read_number(trace, ref)) for refs in rows for ref in refs)
    row, *matrix, result = [describe_cells(trace, refs, reach) for refs in rows]
    return {
        "says": say(f"lessons.qkv.product.{role}"),
        "row": row,
        "matrix": matrix,
        "result": result,
    }


def describe_cells(trace: Trace, refs: Sequence[Ref], reach: float) -> list[dict[str, str]]:
    """Returns the data of a row of cells for the browser component: the numbers as texts, and the cells' colours.

    reach: the magnitude that gets the strongest colour.
    """
    values = [read_number(trace, ref) for ref in refs]
    fills, inks = shade_cells(np.array(values), reach, is_share=False, palette=current_palette())
    cells = []
    for value, fill, ink in zip(values, fills, inks, strict=True):
        cells.append({"text": format_fixed(value), "fill": fill, "ink": ink})
    return cells


def read_number(trace: Trace, ref: Ref) -> float:
    """Returns the number of a cell of a run."""
    return float(trace[ref.step][ref.index])


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        projected = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_for(projected)
        names = list_place_names(trace, "T")
        query = pick_place("token", names, selection_of(trace, projected).query)
        projected = projected.with_fields(token=query)
        with_or_without = choose_option("words", ("without", "with"))
    bare = projected.with_fields(**WITHOUT_PROJECTIONS)
    plain = trace_for(bare)
    selection = selection_of(trace, projected)
    show_product(trace, selection, names[selection.query])
    weights = trace.step("weights").window(B=0, H=selection.head, T=selection.query)  # (S,)
    known = predict(names, {int(weights.argmax())}) or with_or_without == "with"
    word = names[selection.query]
    head = place_name(trace, "H", selection.head)
    rows = [
        row_of(
            say("lessons.qkv.row_without", word=word),
            plain,
            "weights",
            (0, 0, selection.query),
            "bare",
        ),
        row_of(
            say("lessons.qkv.row_with", word=word, head=head),
            trace,
            "weights",
            (0, selection.head, selection.query),
            "projected",
            hidden=not known,
        ),
    ]
    shown, run = (projected, trace) if known else (bare, plain)
    show_fact(fact_sentence(run, selection_of(run, shown)))
    runs = {"bare": plain, "projected": trace}
    show_bar_rows("hero", rows, names, runs, trace, say("lessons.qkv.alt"), fits_phone=True, height=50.0, fills=True)
    show_lesson_journey(shown)
    show_lesson_run(shown, place)
    draw_drawers(LESSON, projected)
    show_lesson_code(LESSON, trace)
