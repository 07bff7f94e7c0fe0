"""What every decoding step does to every token's key, as a triangle of cells: a row per step, a column per token."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.drawing.cells import box, cell_table, grid_box, place_bar, place_outline
from attention_core.drawing.charts import MAP_TITLE_PX
from attention_core.drawing.palette import Palette, blend_colours, colour_channels, readable_inks, to_hex_colours
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import place_fitted_label, place_label, text_width
from attention_core.variants.decoding_work import STATE_ABSENT, STATE_AGAIN, STATE_COMPUTED, STATE_KEPT, STATE_UNNEEDED

STATE_MARKS = {
    STATE_COMPUTED: "+",
    STATE_AGAIN: "+",
    STATE_KEPT: "=",
    STATE_UNNEEDED: "",
    STATE_ABSENT: "",
}  # "+" for a key that is computed in a step, "=" for one that is cached
KEPT_SHARE = 0.28  # share of the keys' colour in the colour of a cached key
MAX_TRIANGLE_CELL_PX, MIN_TRIANGLE_CELL_PX = 30.0, 18.0
MAX_TRIANGLE_LABEL_PX = 110.0  # pixels: the largest width of the words beside the rows
TRIANGLE_ROOM_PX = (PAGE_WIDTH_PX - 34.0) / 2  # pixels: two triangles fit beside each other with legible cells
TRIANGLE_LEGEND_PX = 15.0  # pixels: the size of the legend's texts and squares
LEGEND_LINE_PX = 24  # pixels between two lines of the legend
LEGEND_TEXT_GAP_PX, LEGEND_ENTRY_GAP_PX = 6, 22  # pixels between a square and its text, and between two entries


@dataclass(frozen=True)
class CacheTriangle:
    """A title, and states[t][s] as returned by cache_states: the state of token s in step t."""

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
    """Draws a triangle up to a step, whose row is outlined; the cells of later steps are empty.

    names: of the tokens. said: returns the tooltip of a cell (step, token, state). legend: the words of the states that
    it explains. A click sends (step, token) as the index of a cell.
    """
    longest = max(text_width(name, TRIANGLE_LEGEND_PX) for name in names)
    left = min(MAX_TRIANGLE_LABEL_PX, longest + 14)
    top = MAP_TITLE_PX + 10
    fitting = (TRIANGLE_ROOM_PX - left) // len(names)
    size = max(MIN_TRIANGLE_CELL_PX, min(MAX_TRIANGLE_CELL_PX, fitting))
    side = len(names) * size
    right = left + max(side, text_width(drawn.title, MAP_TITLE_PX))
    colours = state_fills_and_inks(palette)
    title = place_label(
        drawn.title,
        left,
        MAP_TITLE_PX / 2,
        palette,
        align="left",
        size=MAP_TITLE_PX,
    )
    rows = [title]
    rows += place_step_names(names, left, top, size, palette)
    for t, states in enumerate(drawn.states):
        for s, state in enumerate(states):
            shown = state if t <= step else STATE_ABSENT
            fill, ink = colours[shown]
            rows.append(
                {
                    "kind": "cell",
                    **grid_box((left, top), t, s, size),
                    "fill": fill,
                    "ink": ink,
                    "edge": palette.faint,
                    "text": STATE_MARKS[shown],
                    "size": size * 0.62,
                    "what": said(t, s, shown),
                    "value": legend.get(shown, shown),
                    "step": "states",
                    "index": f"{t},{s}",
                    "panel": "triangle",
                    "row": t,
                    "column": s,
                }
            )
    frame = box(left, left + side, top + step * size, top + (step + 1) * size)
    rows.append(place_outline(frame, palette))
    explained, bottom = place_state_legend(legend, (0.0, top + side + 20), right, palette)
    return Picture(cell_table(rows + explained), sized_specification(right + 4, bottom + 12))


def place_step_names(names: Sequence[str], left: float, top: float, size: float, palette: Palette) -> list[dict]:
    """The tokens beside the rows."""
    letters = min(TRIANGLE_LEGEND_PX, size - 2)
    rows = []
    for t, name in enumerate(names):
        middle = top + (t + 0.5) * size
        label = place_fitted_label(
            name,
            left - 8,
            middle,
            room=left - 10,
            size=TRIANGLE_LEGEND_PX,
            palette=palette,
            align="right",
        )
        rows.append(label | {"size": letters})
    return rows


# ---- states ----------------------------------------------------------------------------------------------------------
def state_colours(palette: Palette) -> dict[str, str]:
    """The colour of each state: keys are orange, cached ones pale; repeated work has the colour of negative numbers."""
    share = np.array([KEPT_SHARE])
    (pale,) = to_hex_colours(blend_colours(palette.ground, palette.k, share))
    return {
        STATE_COMPUTED: palette.k,
        STATE_KEPT: pale,
        STATE_AGAIN: palette.minus,
        STATE_UNNEEDED: palette.faint,
        STATE_ABSENT: palette.ground,
    }


def state_fills_and_inks(palette: Palette) -> dict[str, tuple[str, str]]:
    """The fill and the readable text colour of each state."""
    fills = state_colours(palette)
    channels = np.stack([colour_channels(fill) for fill in fills.values()])  # (states, 3)
    inks = readable_inks(channels)
    colours = zip(fills.values(), inks, strict=True)
    return dict(zip(fills, colours, strict=True))


def place_state_legend(
    legend: Mapping[str, str], at: tuple[float, float], right: float, palette: Palette
) -> tuple[list[dict], float]:
    """The colour, mark and words of each state, in lines from `at` to `right`; and the y of the last line."""
    colours = state_fills_and_inks(palette)
    first, y = at
    x = first
    rows = []
    for state, text in legend.items():
        fill, ink = colours[state]
        letters = text_width(text, TRIANGLE_LEGEND_PX)
        width = TRIANGLE_LEGEND_PX + LEGEND_TEXT_GAP_PX + letters
        if x > first and x + width > right:
            x = first
            y += LEGEND_LINE_PX
        middle = x + TRIANGLE_LEGEND_PX / 2
        mark = place_label(STATE_MARKS[state], middle, y, palette, size=TRIANGLE_LEGEND_PX)
        mark["ink"] = ink
        start = x + TRIANGLE_LEGEND_PX + LEGEND_TEXT_GAP_PX
        rows += place_legend_square(x, y, fill, palette)
        rows.append(mark)
        rows.append(place_label(text, start, y, palette, align="left", size=TRIANGLE_LEGEND_PX))
        x += TRIANGLE_LEGEND_PX + letters + LEGEND_ENTRY_GAP_PX
    return rows, y


def place_legend_square(x: float, y: float, fill: str, palette: Palette) -> list[dict]:
    """A square of the legend, with an edge that is visible also on the background. y: of its middle."""
    x2 = x + TRIANGLE_LEGEND_PX
    top = y - TRIANGLE_LEGEND_PX / 2
    bottom = y + TRIANGLE_LEGEND_PX / 2
    edge = box(x, x2, top, bottom)
    inside = box(x + 1, x2 - 1, top + 1, bottom - 1)
    return [
        place_bar(edge, palette.faint),
        place_bar(inside, fill),
    ]
