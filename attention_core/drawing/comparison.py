"""Two runs beside each other: one head's weights in A and in B, B - A, and how far each row lies from the other.

All three maps stand in one picture. Pointing at a cell of one outlines the same cell in the others, and the figures of
its row, without asking the server.
"""

from collections.abc import Sequence

import torch

from attention_core.comparison.distances import kl_divergence, total_variation
from attention_core.drawing.cells import darkest, matrix, ramp, signed_ramp, span, table
from attention_core.drawing.charts import PAGE, TITLE, Picture, sized
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import Words, column_labels, cut, label, label_margin, row_labels
from attention_core.explanation.layout import Panel, panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import exact, fixed, rough
from attention_core.record.trace import Trace

GAP = 14.0  # pixels between two maps
FIGURE = 40.0  # a column of figures
LARGEST, LEAST = 40.0, 8.0  # a cell
SIGNS = ("A", "B", "B − A")


def three_maps(
    runs: tuple[Trace, Trace, Trace],
    words: tuple[Words, Words, Words],
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
    size = fitted(panels[0], words[2])
    left, across = label_margin(panels[0], words[2], size), keys * size + GAP
    above = [column_labels(part, each, size) for part, each in zip(panels, words, strict=True)]
    top = TITLE + 8 + max(each.room for each in above)
    bottom = top + count * size
    reaches = (darkest(keys, times), darkest(keys, times), span(runs[2], "weights", batch))
    drawn = row_labels(panels[0], words[2], palette, left, top, size, left - 8)
    parts = zip(runs, panels, words, above, titles, reaches, strict=True)
    for n, (run, part, each, labels, title, reach) in enumerate(parts):
        x = left + n * across
        here = chosen if chosen is not None and run.holds(chosen.step, chosen.index) else None
        drawn += [told(row, panels) for row in matrix(part, run, each, palette, (x, top), size, here, reach=reach)]
        drawn += labels.drawn(palette, x, top)
        drawn.append(label(cut(title, across, TITLE), x, TITLE / 2 + 2, palette, align="left", size=TITLE))
        drawn.append(framed(x, x + keys * size, top + query * size, size, palette))
    shared, own = left, left + 2 * across
    drawn += ramp(palette, shared, bottom + 10, across + keys * size, keys, times)
    drawn += signed_ramp(palette, own, bottom + 10, max(keys * size, 100), reaches[2])
    right = own + max(keys * size, 100) + GAP
    drawn += row_figures(panels, words[2], palette, (right, top), size, figures)
    return Picture(table(drawn), sized(right + len(figures) * FIGURE + 4, bottom + 40))


def fitted(part: Panel, words: Words) -> float:
    """The side of the largest cells with which three maps and the figures fit the page."""
    keys, size = part.values.shape[1], LARGEST
    while size > LEAST and label_margin(part, words, size) + 3 * (keys * size + GAP) + 2 * FIGURE + 8 > PAGE:
        size -= 1
    return size


def framed(x: float, x2: float, y: float, size: float, palette: Palette) -> dict:
    """The outline of the chosen query's row."""
    return {"kind": "chosen", "x": x, "x2": x2, "y": y, "y2": y + size, "fill": palette.outline}


def told(row: dict, panels: Sequence[Panel]) -> dict:
    """A cell that tells its number in A, in B, and how far they are apart."""
    if row["kind"] not in ("cell", "blocked"):
        return row
    numbers = (part.values[row["row"], row["column"]] for part in panels)
    return row | {"value": ", ".join(f"{sign} {exact(number)}" for sign, number in zip(SIGNS, numbers, strict=True))}


def row_figures(
    panels: Sequence[Panel],
    words: Words,
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
        x1, x2 = x + n * FIGURE, x + (n + 1) * FIGURE
        drawn.append(label(name, (x1 + x2) / 2, top - 10, palette, size=14.0))
        for r, value in enumerate(values.tolist()):
            y, ref = top + r * size, panels[2].refs[r][farthest[r]]
            box = {"x": x1, "x2": x2, "y": y, "y2": y + size, "panel": "left", "row": r, "column": -1 - n}
            place = {"step": ref.step, "index": ",".join(map(str, ref.index))}
            text = {"text": short(value), "size": height, "what": f"{what} [{words.labels('T', r)}]"}
            look = {"kind": "cell", "fill": palette.ground, "ink": palette.ink, "edge": palette.ground}
            drawn.append(box | place | text | look | {"value": exact(value)})
    return drawn


def short(value: float) -> str:
    """A figure beside a row: two decimals, or a digit and a power of ten where they would make 0 of it.

    >>> short(0.3131), short(0.0), short(0.00002), short(float("inf"))
    ('0.31', '0', '2e−5', '∞')
    """
    return fixed(value) if value >= 0.005 else rough(value).lstrip("+")
