"""Draws two runs side by side: a head's weights in A, in B, and B - A, and the distances between the rows of A and B.

All three maps are in one picture. When the visitor hovers over a cell, the browser outlines the same cell in the other
maps and the distances of its row.
"""

from collections.abc import Sequence

import torch

from attention_core.comparison.distances import kl_divergence, total_variation
from attention_core.drawing.cells import (
    box,
    cell_table,
    colour_reach,
    darkest_share,
    name_cell,
    place_matrix,
    place_outline,
)
from attention_core.drawing.charts import MAP_TITLE_PX, place_map_title
from attention_core.drawing.palette import Palette, palette_for
from attention_core.drawing.ramps import place_ramp, place_signed_ramp
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import (
    PictureTexts,
    column_labels,
    label_margin,
    place_label,
    place_row_labels,
)
from attention_core.explanation.layout import Panel, panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed, format_signed_rough
from attention_core.record.trace import Trace

MAP_GAP_PX = 14.0  # in pixels: the distance between two maps
FIGURE_WIDTH_PX = 40.0  # in pixels: the width of a column of distances
MAX_MAP_CELL_PX, MIN_MAP_CELL_PX = 40.0, 8.0  # in pixels: the largest and the smallest side of a cell
MIN_DIFFERENCE_RAMP_PX = 100
MIN_FIXED_FIGURE = 0.005  # smaller distances are written with a power of ten; two decimals would show 0
STACKED_WIDTH_PX = 342.0  # in pixels: the largest width of maps below each other, so that a phone shows them whole
RAMP_HEIGHT_PX = 40.0  # in pixels: the height of a colour scale below a map
RUN_SIGNS = ("A", "B", "B − A")


def three_maps(
    runs: tuple[Trace, Trace, Trace],
    words: tuple[PictureTexts, PictureTexts, PictureTexts],
    palette: Palette,
    head: int,
    query: int,
    titles: Sequence[str],
    figures: Sequence[tuple[str, str]],
    chosen: Ref | None = None,
    batch: int = 0,
    times: bool = False,
    stacked: bool = False,
) -> Picture:
    """Draw a head's weights in A, in B, and B - A, and on request the distance between A and B in each row.

    A and B share one colour scale, and the difference has another; the map of a run of random matrices is grey.

    runs: A, B and their difference from subtract_traces. words: the texts of A, of B, and of the difference, which also
    name the rows. titles: the titles of the maps. figures: the (heading, description) of each of the two columns of
    distances; empty to show no distances. times: True if the colours of A and B are multiples of a uniform share.
    stacked: True to draw the maps below each other, for a narrow screen.
    """
    panels = [panel(run, "weights", {"B": batch, "H": head}) for run in runs]
    count, keys = panels[0].values.shape
    # Space for the distances is reserved even while none are drawn, so that the maps do not move.
    distances = 0.0 if stacked and not figures else 2 * FIGURE_WIDTH_PX
    size = fit_three_maps(panels[0], words[2], stacked, distances)
    width = keys * size
    step = width + MAP_GAP_PX  # distance from one map's left edge to the next one's
    labels = []
    for part, texts in zip(panels, words, strict=True):
        labels.append(column_labels(part, texts, size))
    left = label_margin(panels[0], words[2], size)
    top = MAP_TITLE_PX + 8 + max(above.room for above in labels)
    bottom = top + count * size
    share = darkest_share(keys, times)
    difference = colour_reach(runs[2], "weights", batch)
    below = bottom + MAP_GAP_PX if stacked else 0.0  # distance from one map's top edge to the next one's
    tops = [0.0, below, 2 * below + RAMP_HEIGHT_PX if stacked else 0.0]
    drawn = []
    for y in tops if stacked else tops[:1]:
        drawn += place_row_labels(panels[0], words[2], palette, left, y + top, size)
    reaches = (share, share, difference)
    maps = zip(
        runs,
        panels,
        words,
        labels,
        titles,
        reaches,
        strict=True,
    )
    for number, (run, part, texts, above, title, reach) in enumerate(maps):
        x = left if stacked else left + number * step
        origin = tops[number] + top
        y = origin + query * size
        opened = None
        if chosen is not None and run.holds(chosen.step, chosen.index):
            opened = chosen
        cells = place_matrix(
            part,
            run,
            texts,
            palette_for(run, palette),
            origin=(x, origin),
            size=size,
            chosen=opened,
            reach=reach,
        )
        drawn += [add_tooltip(cell, panels) for cell in cells]
        drawn += above.drawn(palette, x, origin)
        drawn.append(place_map_title(title, x, step, palette, tops[number]))
        drawn.append(place_outline(box(x, x + width, y, y + size), palette))
    last = left if stacked else left + 2 * step
    last_width = max(width, MIN_DIFFERENCE_RAMP_PX)
    shared = palette if not all(run.chance.matrices for run in runs[:2]) else palette_for(runs[0], palette)
    shared_width = width if stacked else step + width
    drawn += place_ramp(shared, left, tops[1] + bottom + 10, shared_width, keys, times)
    drawn += place_signed_ramp(palette_for(runs[2], palette), last, tops[2] + bottom + 10, last_width, difference)
    right = last + last_width + MAP_GAP_PX
    if figures:
        drawn += place_row_figures(panels, words[2], palette, (right, tops[2] + top), size, figures)
    if stacked:
        distances = max(distances, max(above.overhang for above in labels) - MAP_GAP_PX)
    return Picture(cell_table(drawn), sized_specification(right + distances + 4, tops[2] + bottom + RAMP_HEIGHT_PX))


def fit_three_maps(part: Panel, words: PictureTexts, stacked: bool, distances: float) -> float:
    """Return the largest cell side with which three maps and the columns of distances fit the page.

    stacked: whether the maps are below each other, and need to fit a phone. distances: the width of the columns of
    distances.
    """
    keys = part.values.shape[1]
    across, room = (1, STACKED_WIDTH_PX) if stacked else (3, PAGE_WIDTH_PX)
    size = MAX_MAP_CELL_PX
    while size > MIN_MAP_CELL_PX:
        maps = across * (keys * size + MAP_GAP_PX)
        beyond = max(distances, column_labels(part, words, size).overhang - MAP_GAP_PX) if stacked else distances
        width = label_margin(part, words, size) + maps + beyond + 8
        if width <= room:
            break
        size -= 1
    return size


def add_tooltip(row: dict, panels: Sequence[Panel]) -> dict:
    """Return a mark with a tooltip: the number of its cell in A and in B, and their difference.

    Rows that draw no cell of a map, such as labels, are returned unchanged.
    """
    if row["kind"] not in ("cell", "blocked"):
        return row
    place = (row["row"], row["column"])
    values = []
    for sign, part in zip(RUN_SIGNS, panels, strict=True):
        number = part.values[place]
        values.append(f"{sign} {format_exact(number)}")
    return row | {"value": ", ".join(values)}


def place_row_figures(
    panels: Sequence[Panel],
    words: PictureTexts,
    palette: Palette,
    origin: tuple[float, float],
    size: float,
    figures: Sequence[tuple[str, str]],
) -> list[dict]:
    """Return the cells at the right of the maps that hold each row's two distances between A and B.

    The distances are the total variation and the KL divergence. A click on a distance opens the weight that changed
    most in its row.
    """
    a, b, difference = (torch.from_numpy(part.values) for part in panels)
    farthest = difference.abs().argmax(-1).tolist()  # per row, the column of the weight that changed most
    opened = []
    for refs, column in zip(panels[2].refs, farthest, strict=True):
        opened.append(refs[column])
    columns = (total_variation(a, b), kl_divergence(a, b))
    left, top = origin
    drawn = []
    for number, (values, (name, what)) in enumerate(zip(columns, figures, strict=True)):
        x = left + number * FIGURE_WIDTH_PX
        x2 = left + (number + 1) * FIGURE_WIDTH_PX
        middle = (x + x2) / 2
        drawn.append(place_label(name, middle, top - 10, palette, size=14.0))
        cells = zip(values.tolist(), opened, strict=True)
        for row, (value, ref) in enumerate(cells):
            y = top + row * size
            drawn.append(
                {
                    "kind": "cell",
                    **box(x, x2, y, y + size),
                    "fill": palette.ground,
                    "ink": palette.ink,
                    "edge": palette.ground,
                    "text": format_row_figure(value),
                    "size": min(14.0, max(size * 0.8, 9.0)),
                    "what": f"{what} [{words.labels('T', row)}]",
                    "value": format_exact(value),
                    **name_cell(ref),
                    "panel": "left",
                    "row": row,
                    "column": -1 - number,
                }
            )
    return drawn


def format_row_figure(value: float) -> str:
    """Format a distance with two decimals, or with one digit and a power of ten if two decimals would round it to 0.

    >>> format_row_figure(0.3131), format_row_figure(0.0), format_row_figure(0.00002), format_row_figure(float("inf"))
    ('0.31', '0', '2e−5', '∞')
    """
    if value >= MIN_FIXED_FIGURE:
        return format_fixed(value)
    return format_signed_rough(value).lstrip("+")
