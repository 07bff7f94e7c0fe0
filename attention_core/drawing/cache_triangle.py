"""What every step of a decoder does to every token's key, as a triangle of cells: a row a step, a column a token."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.drawing.cells import table
from attention_core.drawing.charts import PAGE, TITLE, Picture, sized
from attention_core.drawing.palette import Palette, blend, channels, hexes, inks
from attention_core.drawing.text_layout import cut, label, text_width
from attention_core.variants.kv_cache import ABSENT, AGAIN, COMPUTED, KEPT, UNNEEDED

MARKS = {COMPUTED: "+", AGAIN: "+", KEPT: "=", UNNEEDED: "", ABSENT: ""}  # + where something is computed
LARGEST_CELL, SMALLEST_CELL = 30.0, 18.0
MARGIN = 110.0  # the most room for the words beside the rows
ROOM = (PAGE - 34.0) / 2  # of two triangles beside each other, as long as the cells can still be read
LEGEND = 15.0  # the size of its texts, and of its squares


@dataclass(frozen=True)
class Triangle:
    """states[t][s] as `decoding.states` gives them, under a title."""

    title: str
    states: Sequence[Sequence[str]]


def triangle(
    drawn: Triangle,
    names: Sequence[str],
    step: int,
    said: Callable[[int, int, str], str],
    legend: Mapping[str, str],
    palette: Palette,
) -> Picture:
    """A triangle up to a step, whose row is outlined: what comes later is not there yet.

    names: of the tokens. said: what a cell (step, token, state) says to who points at it. legend: the words of the
    states that it explains. A cell names its step and its token as its index.
    """
    fills = colours(palette)
    ink = dict(zip(fills, inks(np.stack([*map(channels, fills.values())])), strict=True))
    left, top = min(MARGIN, max(text_width(name, LEGEND) for name in names) + 14), TITLE + 10
    size = max(SMALLEST_CELL, min(LARGEST_CELL, (ROOM - left) // len(names)))
    rows = [label(drawn.title, left, TITLE / 2, palette, align="left", size=TITLE)]
    for t, name in enumerate(names):
        place = (left - 8, top + (t + 0.5) * size)
        rows.append(label(cut(name, left - 10, LEGEND), *place, palette, align="right", size=min(LEGEND, size - 2)))
    for t, row in enumerate(drawn.states):
        for s, state in enumerate(row):
            now = state if t <= step else ABSENT
            rows.append(
                {
                    "kind": "cell",
                    "x": left + s * size,
                    "x2": left + (s + 1) * size,
                    "y": top + t * size,
                    "y2": top + (t + 1) * size,
                    "fill": fills[now],
                    "ink": ink[now],
                    "edge": palette.faint,
                    "text": MARKS[now],
                    "size": size * 0.62,
                    "what": said(t, s, now),
                    "value": legend.get(now, now),
                    "step": "states",
                    "index": f"{t},{s}",
                    "panel": "triangle",
                    "row": t,
                    "column": s,
                }
            )
    right = left + max(len(names) * size, text_width(drawn.title, TITLE))
    frame = {"kind": "chosen", "x": left, "x2": left + len(names) * size, "fill": palette.outline}
    rows.append(frame | {"y": top + step * size, "y2": top + (step + 1) * size})
    explained, bottom = squares(legend, (0.0, top + len(names) * size + 20), right, fills, ink, palette)
    return Picture(table(rows + explained), sized(right + 4, bottom + 12))


def colours(palette: Palette) -> dict[str, str]:
    """The colour of each state: keys are orange, pale where they are kept; work done twice is the minus of a map."""
    (pale,) = hexes(blend(palette.ground, palette.k, np.array([0.28])))
    return {COMPUTED: palette.k, KEPT: pale, AGAIN: palette.minus, UNNEEDED: palette.faint, ABSENT: palette.ground}


def squares(
    legend: Mapping[str, str],
    at: tuple[float, float],
    right: float,
    fills: dict[str, str],
    ink: dict[str, str],
    palette: Palette,
) -> tuple[list[dict], float]:
    """A square of each colour with its mark, and what it means, in lines from `at` as far as `right`; and where the
    last line stands."""
    rows, (x, y) = [], at
    for state, text in legend.items():
        if x > at[0] and x + LEGEND + 6 + text_width(text, LEGEND) > right:
            x, y = at[0], y + 24
        box = {"x": x, "x2": x + LEGEND, "y": y - LEGEND / 2, "y2": y + LEGEND / 2}
        inner = {key: edge + (1 if key in ("x", "y") else -1) for key, edge in box.items()}
        rows.append(box | {"kind": "bar", "fill": palette.faint})  # an edge, for a square of the ground's own colour
        rows.append(inner | {"kind": "bar", "fill": fills[state]})
        rows.append(label(MARKS[state], x + LEGEND / 2, y, palette, size=LEGEND, ink=ink[state]))
        rows.append(label(text, x + LEGEND + 6, y, palette, align="left", size=LEGEND))
        x += LEGEND + text_width(text, LEGEND) + 22
    return rows, y
