"""What every step of a decoder does to every token's key, as a triangle of cells: a row a step, a column a token."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.drawing.cells import cell_table
from attention_core.drawing.charts import MAP_TITLE_PX
from attention_core.drawing.palette import Palette, blend_colours, colour_channels, readable_inks, to_hex_colours
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import place_label, shorten_text, text_width
from attention_core.variants.kv_cache import STATE_ABSENT, STATE_AGAIN, STATE_COMPUTED, STATE_KEPT, STATE_UNNEEDED

STATE_MARKS = {
    STATE_COMPUTED: "+",
    STATE_AGAIN: "+",
    STATE_KEPT: "=",
    STATE_UNNEEDED: "",
    STATE_ABSENT: "",
}  # + where something is computed
MAX_TRIANGLE_CELL_PX, MIN_TRIANGLE_CELL_PX = 30.0, 18.0
MAX_TRIANGLE_LABEL_PX = 110.0  # the most room for the words beside the rows
TRIANGLE_ROOM_PX = (
    PAGE_WIDTH_PX - 34.0
) / 2  # of two triangles beside each other, as long as the cells can still be read
TRIANGLE_LEGEND_PX = 15.0  # the size of its texts, and of its squares


@dataclass(frozen=True)
class CacheTriangle:
    """states[t][s] as `decoding.states` gives them, under a title."""

    title: str
    states: Sequence[Sequence[str]]


def triangle_picture(
    drawn: CacheTriangle,
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
    fills = state_colours(palette)
    ink = dict(zip(fills, readable_inks(np.stack([*map(colour_channels, fills.values())])), strict=True))
    left, top = (
        min(MAX_TRIANGLE_LABEL_PX, max(text_width(name, TRIANGLE_LEGEND_PX) for name in names) + 14),
        MAP_TITLE_PX + 10,
    )
    size = max(MIN_TRIANGLE_CELL_PX, min(MAX_TRIANGLE_CELL_PX, (TRIANGLE_ROOM_PX - left) // len(names)))
    rows = [place_label(drawn.title, left, MAP_TITLE_PX / 2, palette, align="left", size=MAP_TITLE_PX)]
    for t, name in enumerate(names):
        place = (left - 8, top + (t + 0.5) * size)
        rows.append(
            place_label(
                shorten_text(name, left - 10, TRIANGLE_LEGEND_PX),
                *place,
                palette,
                align="right",
                size=min(TRIANGLE_LEGEND_PX, size - 2),
            )
        )
    for t, row in enumerate(drawn.states):
        for s, state in enumerate(row):
            now = state if t <= step else STATE_ABSENT
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
                    "text": STATE_MARKS[now],
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
    right = left + max(len(names) * size, text_width(drawn.title, MAP_TITLE_PX))
    frame = {"kind": "chosen", "x": left, "x2": left + len(names) * size, "fill": palette.outline}
    rows.append(frame | {"y": top + step * size, "y2": top + (step + 1) * size})
    explained, bottom = place_state_legend(legend, (0.0, top + len(names) * size + 20), right, fills, ink, palette)
    return Picture(cell_table(rows + explained), sized_specification(right + 4, bottom + 12))


def state_colours(palette: Palette) -> dict[str, str]:
    """The colour of each state: keys are orange, pale where they are kept; work done twice is the minus of a map."""
    (pale,) = to_hex_colours(blend_colours(palette.ground, palette.k, np.array([0.28])))
    return {
        STATE_COMPUTED: palette.k,
        STATE_KEPT: pale,
        STATE_AGAIN: palette.minus,
        STATE_UNNEEDED: palette.faint,
        STATE_ABSENT: palette.ground,
    }


def place_state_legend(
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
        if x > at[0] and x + TRIANGLE_LEGEND_PX + 6 + text_width(text, TRIANGLE_LEGEND_PX) > right:
            x, y = at[0], y + 24
        box = {"x": x, "x2": x + TRIANGLE_LEGEND_PX, "y": y - TRIANGLE_LEGEND_PX / 2, "y2": y + TRIANGLE_LEGEND_PX / 2}
        inner = {key: edge + (1 if key in ("x", "y") else -1) for key, edge in box.items()}
        rows.append(box | {"kind": "bar", "fill": palette.faint})  # an edge, for a square of the ground's own colour
        rows.append(inner | {"kind": "bar", "fill": fills[state]})
        rows.append(
            place_label(
                STATE_MARKS[state], x + TRIANGLE_LEGEND_PX / 2, y, palette, size=TRIANGLE_LEGEND_PX, ink=ink[state]
            )
        )
        rows.append(place_label(text, x + TRIANGLE_LEGEND_PX + 6, y, palette, align="left", size=TRIANGLE_LEGEND_PX))
        x += TRIANGLE_LEGEND_PX + text_width(text, TRIANGLE_LEGEND_PX) + 22
    return rows, y
