"""Two runs beside each other: one head's weights in A and in B, B - A, and how far each row lies from the other.

All three maps stand in one picture. Pointing at a cell of one outlines the same cell in the others, and the figures of
its row, without asking the server.
"""

from collections.abc import Sequence

import torch

from attention_core.comparison.distances import kl_divergence, total_variation
from attention_core.drawing.cells import cell_table, colour_reach, darkest_share, place_matrix
from attention_core.drawing.charts import MAP_TITLE_PX
from attention_core.drawing.palette import Palette
from attention_core.drawing.ramps import place_ramp, place_signed_ramp
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import (
    PictureTexts,
    column_labels,
    label_margin,
    place_label,
    place_row_labels,
    shorten_text,
)
from attention_core.explanation.layout import Panel, panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed, format_signed_rough
from attention_core.record.trace import Trace

MAP_GAP_PX = 14.0  # pixels between two maps
FIGURE_WIDTH_PX = 40.0  # a column of figures
MAX_MAP_CELL_PX, MIN_MAP_CELL_PX = 40.0, 8.0  # a cell
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
    """One head's weights in A, in B, and B - A: A and B on one range of colours, the difference on its own; beside each
    row its total variation, and the divergence of A from B.

    runs: A, B and their `change.difference`. words: of A, of B, and of the difference; the last name the rows. titles:
    over each map. figures: for either figure what stands above its column, and what it is. times: colours of A and B
    count in even shares.
    """
    panels = [panel(run, "weights", {"B": batch, "H": head}) for run in runs]
    count, keys = panels[0].values.shape
    size = fit_three_maps(panels[0], words[2])
    left, across = label_margin(panels[0], words[2], size), keys * size + MAP_GAP_PX
    above = [column_labels(part, each, size) for part, each in zip(panels, words, strict=True)]
    top = MAP_TITLE_PX + 8 + max(each.room for each in above)
    bottom = top + count * size
    reaches = (darkest_share(keys, times), darkest_share(keys, times), colour_reach(runs[2], "weights", batch))
    drawn = place_row_labels(panels[0], words[2], palette, left, top, size, left - 8)
    parts = zip(runs, panels, words, above, titles, reaches, strict=True)
    for n, (run, part, each, labels, title, reach) in enumerate(parts):
        x = left + n * across
        here = chosen if chosen is not None and run.holds(chosen.step, chosen.index) else None
        drawn += [
            with_three_values(row, panels)
            for row in place_matrix(part, run, each, palette, (x, top), size, here, reach=reach)
        ]
        drawn += labels.drawn(palette, x, top)
        drawn.append(
            place_label(
                shorten_text(title, across, MAP_TITLE_PX),
                x,
                MAP_TITLE_PX / 2 + 2,
                palette,
                align="left",
                size=MAP_TITLE_PX,
            )
        )
        drawn.append(outline_row(x, x + keys * size, top + query * size, size, palette))
    shared, own = left, left + 2 * across
    drawn += place_ramp(palette, shared, bottom + 10, across + keys * size, keys, times)
    drawn += place_signed_ramp(palette, own, bottom + 10, max(keys * size, 100), reaches[2])
    right = own + max(keys * size, 100) + MAP_GAP_PX
    drawn += place_row_figures(panels, words[2], palette, (right, top), size, figures)
    return Picture(cell_table(drawn), sized_specification(right + len(figures) * FIGURE_WIDTH_PX + 4, bottom + 40))


def fit_three_maps(part: Panel, words: PictureTexts) -> float:
    """The side of the largest cells with which three maps and the figures fit the page."""
    keys, size = part.values.shape[1], MAX_MAP_CELL_PX
    while (
        size > MIN_MAP_CELL_PX
        and label_margin(part, words, size) + 3 * (keys * size + MAP_GAP_PX) + 2 * FIGURE_WIDTH_PX + 8 > PAGE_WIDTH_PX
    ):
        size -= 1
    return size


def outline_row(x: float, x2: float, y: float, size: float, palette: Palette) -> dict:
    """The outline of the chosen query's row."""
    return {"kind": "chosen", "x": x, "x2": x2, "y": y, "y2": y + size, "fill": palette.outline}


def with_three_values(row: dict, panels: Sequence[Panel]) -> dict:
    """A cell that tells its number in A, in B, and how far they are apart."""
    if row["kind"] not in ("cell", "blocked"):
        return row
    numbers = (part.values[row["row"], row["column"]] for part in panels)
    return row | {
        "value": ", ".join(f"{sign} {format_exact(number)}" for sign, number in zip(RUN_SIGNS, numbers, strict=True))
    }


def place_row_figures(
    panels: Sequence[Panel],
    words: PictureTexts,
    palette: Palette,
    origin: tuple[float, float],
    size: float,
    figures: Sequence[tuple[str, str]],
) -> list[dict]:
    """Beside each row how far its weights in A and in B lie apart; a click opens the weight that moved farthest."""
    a, b, apart = (torch.from_numpy(part.values) for part in panels)
    farthest = apart.abs().argmax(-1).tolist()
    drawn, (x, top), height = [], origin, min(14.0, max(size * 0.8, 9.0))
    for n, (values, (name, what)) in enumerate(zip((total_variation(a, b), kl_divergence(a, b)), figures, strict=True)):
        x1, x2 = x + n * FIGURE_WIDTH_PX, x + (n + 1) * FIGURE_WIDTH_PX
        drawn.append(place_label(name, (x1 + x2) / 2, top - 10, palette, size=14.0))
        for r, value in enumerate(values.tolist()):
            y, ref = top + r * size, panels[2].refs[r][farthest[r]]
            box = {"x": x1, "x2": x2, "y": y, "y2": y + size, "panel": "left", "row": r, "column": -1 - n}
            place = {"step": ref.step, "index": ",".join(map(str, ref.index))}
            text = {"text": format_row_figure(value), "size": height, "what": f"{what} [{words.labels('T', r)}]"}
            look = {"kind": "cell", "fill": palette.ground, "ink": palette.ink, "edge": palette.ground}
            drawn.append(box | place | text | look | {"value": format_exact(value)})
    return drawn


def format_row_figure(value: float) -> str:
    """A figure beside a row: two decimals, or a digit and a power of ten where they would make 0 of it.

    >>> format_row_figure(0.3131), format_row_figure(0.0), format_row_figure(0.00002), format_row_figure(float("inf"))
    ('0.31', '0', '2e−5', '∞')
    """
    return format_fixed(value) if value >= 0.005 else format_signed_rough(value).lstrip("+")
