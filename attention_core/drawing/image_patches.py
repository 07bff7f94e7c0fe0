"""Patches of a picture as keys: the picture, each patch in the colour that its vector is, and one word's weights on it.

A patch's vector is its red, green and blue, each from -1 (none) to 1 (full).
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import matrix, table
from attention_core.drawing.charts import Picture, sized
from attention_core.drawing.palette import Palette, hexes
from attention_core.drawing.text_layout import Words, label
from attention_core.explanation.layout import gather
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

SIDE = 58.0  # pixels: a patch
APART = 40.0  # between two pictures
DARKEST, BRIGHTEST = 60.0, 235.0  # of a channel: -1 and 1


def colours(vectors: Float[np.ndarray, "n 3"]) -> list[str]:
    """The colours that vectors are; a number beyond -1 or 1 counts as that.

    >>> colours(np.array([[1.0, -1.0, 0.0], [7.0, 1.0, 1.0]]))
    ['#eb3c94', '#ebebeb']
    """
    shares = (np.clip(vectors, -1.0, 1.0) + 1) / 2
    return hexes(DARKEST + (BRIGHTEST - DARKEST) * shares)


def across(patches: int) -> int:
    """How many patches stand in a row of a picture that is as high as wide, or a little less high.

    >>> across(16), across(5), across(1)
    (4, 3, 1)
    """
    return math.ceil(math.sqrt(patches))


def patch_picture(
    trace: Trace,
    at: tuple[int, int, int],
    words: Words,
    palette: Palette,
    titles: Sequence[str],
    chosen: Ref | None = None,
) -> Picture:
    """The picture that the keys are, one query's weights on its patches, and the colour that it receives.

    at: the batch, the head and the query. titles: over each of the three. Keys and values have three numbers each.
    """
    patches = trace["weights"].shape[-1]
    columns, top = across(patches), 26.0
    wide = columns * SIDE
    rows = squares(colours(trace.step("key").window(B=at[0])), columns, (0.0, top))
    for first in range(0, patches, columns):
        refs = [Ref("weights", (*at, s)) for s in range(first, min(first + columns, patches))]
        origin = (wide + APART, top + first // columns * SIDE)
        rows += matrix(gather(trace, "weights", [refs], ("T", "S")), trace, words, palette, origin, SIDE, chosen)
    received = trace.step("output").window(B=at[0], T=slice(at[2], at[2] + 1))
    rows += squares(colours(received), 1, (2 * (wide + APART), top))
    rows += [
        label(title, number * (wide + APART), 11, palette, align="left", size=15.0)
        for number, title in enumerate(titles)
    ]
    height = top + math.ceil(patches / columns) * SIDE
    return Picture(table(rows), sized(3 * wide + 2 * APART, height + 4))


def squares(fills: Sequence[str], columns: int, origin: tuple[float, float]) -> list[dict]:
    """Squares of these colours, row by row."""
    drawn = []
    for at, fill in enumerate(fills):
        x, y = origin[0] + at % columns * SIDE, origin[1] + at // columns * SIDE
        drawn.append({"kind": "bar", "x": x, "x2": x + SIDE - 1, "y": y, "y2": y + SIDE - 1, "fill": fill})
    return drawn
