"""A page with nothing but large maps, for the tests of the canvas; its numbers can be worked out in the head.

weights[head 2][i][j] = ((7 i + 13 j) mod 101) / 128, and query i may attend to the keys up to i + 6. Other numbers:
((7 i + 13 j + 50) mod 101) / 128.
"""

import sys
from pathlib import Path

import streamlit as st
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from attention_core.drawing.raster import colour_table, raster, small_raster
from attention_core.drawing.text_layout import PictureTexts
from attention_core.record.trace import Step, Trace
from pages import components

T, S = 257, 263
WORDS = {
    "in": "nearer",
    "out": "farther",
    "whole": "whole",
    "window": "rows {a}-{b} of {rows}, columns {c}-{d} of {columns}",
    "hint": "hover",
    "cell": "{row} ({i}), {column} ({j}): {number}{more}",
    "digits": " = {digits}",
    "blocked": "blocked",
    "allowed": "allowed",
}
palette = DARK_PALETTE if st.context.theme.type == "dark" else LIGHT_PALETTE
paint = st.query_params.get("paint")
names = {"T": "r", "S": "<b>c</b> {row}" if "hostile" in st.query_params else "c"}
words = PictureTexts(str, lambda axis, i: names[axis] + str(i))


def show(drawn, key: str, **more) -> None:
    """The large map."""
    data = vars(drawn) | {"palette": vars(palette), "words": WORDS, "label": "map", "note": ""}
    data |= {"chosen": st.session_state.get("chosen"), "query": None, "paint": False}
    data |= {"turn": st.session_state.get("turn", 0)}
    rows, columns = drawn.shape
    given = {"rows": rows, "columns": columns}
    packed = components.pack_bytes(data | more)
    components.canvas(data=packed, key=key, given=given, on_opened=open_cell, on_painted=paint_cells)


def open_cell(cell: dict) -> None:
    """A cell was clicked."""
    st.session_state["said"] = {**cell, "index": [*cell["index"]]}
    st.session_state["chosen"] = [*cell["index"][-2:]]


def paint_cells(stroke: dict) -> None:
    """Cells were drawn over."""
    st.session_state["said"] = {**stroke, "cells": [[*cell] for cell in stroke["cells"]]}
    st.session_state["turn"] = st.session_state.get("turn", 0) + 1
    for row, column in stroke["cells"]:
        if row:  # the first row is refused
            st.session_state["allowed"][row, column] = bool(stroke["to"])


def looked(head: int) -> None:
    """Which small map was chosen."""
    st.session_state["said"] = head


st.session_state["runs"] = st.session_state.get("runs", 0) + 1
if st.button("other numbers"):
    st.session_state["more"] = 50
if paint:
    tall, wide = map(int, paint.split("x"))
    allowed = st.session_state.setdefault("allowed", torch.ones(tall, wide, dtype=torch.bool))
    masks = Trace({"allowed": Step("allowed", allowed, ("T", "S"))})
    show(raster(masks, "allowed", words, palette), "mask", paint=True)
    st.text(f"blocked {int((~allowed).sum())}")
else:
    i, j = torch.arange(T)[:, None], torch.arange(S)[None, :]
    own = ((7 * i + 13 * j + st.session_state.get("more", 0)) % 101 / 128).double()
    allowed = (j <= i + 6).expand(1, 2, T, S)
    weights = torch.stack([torch.zeros_like(own), own])[None] * allowed  # (1, 2, T, S)
    dims = ("B", "H", "T", "S")
    trace = Trace({"weights": Step("weights", weights, dims), "allowed": Step("allowed", allowed, dims)})
    heads = [small_raster(trace, "weights", {"H": head}) for head in range(2)]
    row = {"label": "heads", "note": "1 : 3", "side": 80, "lines": 1, "palette": vars(palette)}
    fills = {"share": colour_table(True, palette)[0]}
    row |= {"fills": fills, "maps": [], "cells": b"".join(head.cells for head in heads)}
    for n, head in enumerate(heads):
        name = f"head {n + 1}"
        looks = {"name": name, "title": name, "chosen": n == 1, "breaks": False, "scale": "share"}
        row["maps"].append({"opens": n, "map": head.drawn, **looks})
    components.thumbnails(data=components.pack_bytes(row), key="heads", given={"opens": (0, 1)}, on_opened=looked)
    show(raster(trace, "weights", words, palette, {"H": 1}), "map")
st.json(st.session_state.get("said", {}), expanded=False)
st.text(f"said {st.session_state.get('said')}")
st.text(f"run {st.session_state['runs']}")
