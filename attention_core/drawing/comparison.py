"""Two runs beside each other: one head's weights in A and in B, B - A, and the distance between corresponding rows.

All three maps are in one picture: hovering a cell outlines the same cell in the other maps and the figures of its
row, without a request to the server.
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

MAP_GAP_PX = 14.0  # pixels between two maps
FIGURE_WIDTH_PX = 40.0  # pixels: the width of a column of figures
MAX_MAP_CELL_PX, MIN_MAP_CELL_PX = 40.0, 8.0  # pixels: the side of a cell
MIN_DIFFERENCE_RAMP_PX = 100
MIN_FIXED_FIGURE = 0.005  # the least figure with two decimals: smaller ones would be rounded to 0
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
) -> Picture:
    """Draws one head's weights in A, in B, and B - A; beside each row, if requested, the distance between A and B.

    A and B share one colour scale, the difference has another; a run of random matrices is grey.

    runs: A, B and their difference from subtract_traces. words: of A, of B, and of the difference; the last name the
    rows. titles: of the maps. figures: (heading, description) of both columns of distances; empty to show none. times:
    whether the colours of A and B are multiples of a uniform share.
    """
    panels = [panel(run, "weights", {"B": batch, "H": head}) for run in runs]
    count, keys = panels[0].values.shape
    size = fit_three_maps(panels[0], words[2])
    width = keys * size
    step = width + MAP_GAP_PX  # from the left edge of one map to that of the next
    labels = []
    for part, texts in zip(panels, words, strict=True):
        labels.append(column_labels(part, texts, size))
    left = label_margin(panels[0], words[2], size)
    top = MAP_TITLE_PX + 8 + max(above.room for above in labels)
    bottom = top + count * size
    share = darkest_share(keys, times)
    difference = colour_reach(runs[2], "weights", batch)
    drawn = place_row_labels(panels[0], words[2], palette, left, top, size)
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
        x = left + number * step
        y = top + query * size
        opened = None
        if chosen is not None and run.holds(chosen.step, chosen.index):
            opened = chosen
        cells = place_matrix(
            part,
            run,
            texts,
            palette_for(run, palette),
            origin=(x, top),
            size=size,
            chosen=opened,
            reach=reach,
        )
        drawn += [tell_three_values(cell, panels) for cell in cells]
        drawn += above.drawn(palette, x, top)
        drawn.append(place_map_title(title, x, step, palette))
        drawn.append(place_outline(box(x, x + width, y, y + size), palette))
    last = left + 2 * step
    last_width = max(width, MIN_DIFFERENCE_RAMP_PX)
    shared = palette if not all(run.chance.matrices for run in runs[:2]) else palette_for(runs[0], palette)
    drawn += place_ramp(shared, left, bottom + 10, step + width, keys, times)
    drawn += place_signed_ramp(palette_for(runs[2], palette), last, bottom + 10, last_width, difference)
    right = last + last_width + MAP_GAP_PX
    if figures:
        drawn += place_row_figures(panels, words[2], palette, (right, top), size, figures)
    right += 2 * FIGURE_WIDTH_PX  # also without figures, so that the maps stay in place and names have room
    return Picture(cell_table(drawn), sized_specification(right + 4, bottom + 40))


def fit_three_maps(part: Panel, words: PictureTexts) -> float:
    """The side of the largest cells with which three maps and the figures fit the page."""
    keys = part.values.shape[1]
    size = MAX_MAP_CELL_PX
    while size > MIN_MAP_CELL_PX:
        maps = 3 * (keys * size + MAP_GAP_PX)
        width = label_margin(part, words, size) + maps + 2 * FIGURE_WIDTH_PX + 8
        if width <= PAGE_WIDTH_PX:
            break
        size -= 1
    return size


def tell_three_values(row: dict, panels: Sequence[Panel]) -> dict:
    """A cell with a tooltip of its number in A, in B, and their difference; any other table row unchanged."""
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
    """The distances between A and B beside each row; a click opens the weight of the row that changed most."""
    a, b, difference = (torch.from_numpy(part.values) for part in panels)
    farthest = difference.abs().argmax(-1).tolist()  # for each row, the column of the weight that changed most
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
    """A figure beside a row as a text: two decimals, or one digit and a power of ten if these would be 0.

    >>> format_row_figure(0.3131), format_row_figure(0.0), format_row_figure(0.00002), format_row_figure(float("inf"))
    ('0.31', '0', '2e−5', '∞')
    """
    if value >= MIN_FIXED_FIGURE:
        return format_fixed(value)
    return format_signed_rough(value).lstrip("+")
