"""The lesson on query, key and value: a word's row becomes each of the three, one row times one matrix."""

from collections.abc import Sequence

import numpy as np

from attention_core import Trace
from attention_core.drawing.palette import shade_cells
from attention_core.explanation.row_products import find_row_product
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed
from pages import components
from pages.session.collected import show_moving
from pages.session.labels import Selection, current_palette, place_name
from pages.site.words import get_text_template, say

ROLES = ("q", "k", "v")
TEXTS = ("sum", "choose", "hint", "alt")


def show_product(trace: Trace, selection: Selection, word: str) -> None:
    """Shows x times W for the word that asks; which of its three projections is looked at, the browser alone knows."""
    texts = {name: get_text_template(f"lessons.qkv.product.{name}") for name in TEXTS}
    data = {
        "word": word,
        "names": [place_name(trace, "D", place) for place in range(trace.sizes()["D"])],
        "roles": {role: describe_role(trace, selection, role) for role in ROLES},
        "palette": vars(current_palette()),
        "text": texts,
    }
    show_moving(components.row_product, data=data, key="qkv_product")


def describe_role(trace: Trace, selection: Selection, role: str) -> dict[str, object]:
    """What is drawn of one projection."""
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
    """Numbers as texts, and the colours of their cells."""
    values = [read_number(trace, ref) for ref in refs]
    fills, inks = shade_cells(np.array(values), reach, is_share=False, palette=current_palette())
    cells = []
    for value, fill, ink in zip(values, fills, inks, strict=True):
        cells.append({"text": format_fixed(value), "fill": fill, "ink": ink})
    return cells


def read_number(trace: Trace, ref: Ref) -> float:
    """The number that stands there."""
    return float(trace[ref.step][ref.index])
