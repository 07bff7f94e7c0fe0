"""Patches of a picture as keys: the picture, each patch in the colour that its vector is, and one word's weights on it.

A patch's vector is its red, green and blue, each from -1 (none) to 1 (full).
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import cell_table, place_matrix
from attention_core.drawing.charts import Picture, sized_specification
from attention_core.drawing.palette import Palette, to_hex_colours
from attention_core.drawing.text_layout import PictureTexts, place_label
from attention_core.explanation.layout import gather_panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

PATCH_SIDE_PX = 58.0  # pixels: a patch
PICTURE_GAP_PX = 40.0  # between two pictures
DARKEST_CHANNEL, BRIGHTEST_CHANNEL = 60.0, 235.0  # of a channel: -1 and 1


def vector_colours(vectors: Float[np.ndarray, "n 3"]) -> list[str]:
    """The colours that vectors are; a number beyond -1 or 1 counts as that.

    >>> vector_colours(np.array([[1.0, -1.0, 0.0], [7.0, 1.0, 1.0]]))
    ['#eb3c94', '#ebebeb']
    """
    shares = (np.clip(vectors, -1.0, 1.0) + 1) / 2
    return to_hex_colours(DARKEST_CHANNEL + (BRIGHTEST_CHANNEL - DARKEST_CHANNEL) * shares)


def patches_per_row(patches: int) -> int:
    """How many patches stand in a row of a picture that is as high as wide, or a little less high.

    >>> patches_per_row(16), patches_per_row(5), patches_per_row(1)
    (4, 3, 1)
    """
    return math.ceil(math.sqrt(patches))


def patch_picture(
    trace: Trace,
    at: tuple[int, int, int],
    words: PictureTexts,
    palette: Palette,
    titles: Sequence[str],
    chosen: Ref | None = None,
) -> Picture:
    """The picture that the keys are, one query's weights on its patches, and the colour that it receives.

    at: the batch, the head and the query. titles: over each of the three. Keys and values have three numbers each.
    """
    patches = trace["weights"].shape[-1]
    columns, top = patches_per_row(patches), 26.0
    wide = columns * PATCH_SIDE_PX
    rows = place_squares(vector_colours(trace.step("key").window(B=at[0])), columns, (0.0, top))
    for first in range(0, patches, columns):
        refs = [Ref("weights", (*at, s)) for s in range(first, min(first + columns, patches))]
        origin = (wide + PICTURE_GAP_PX, top + first // columns * PATCH_SIDE_PX)
        rows += place_matrix(
            gather_panel(trace, "weights", [refs], ("T", "S")), trace, words, palette, origin, PATCH_SIDE_PX, chosen
        )
    received = trace.step("output").window(B=at[0], T=slice(at[2], at[2] + 1))
    rows += place_squares(vector_colours(received), 1, (2 * (wide + PICTURE_GAP_PX), top))
    rows += [
        place_label(title, number * (wide + PICTURE_GAP_PX), 11, palette, align="left", size=15.0)
        for number, title in enumerate(titles)
    ]
    height = top + math.ceil(patches / columns) * PATCH_SIDE_PX
    return Picture(cell_table(rows), sized_specification(3 * wide + 2 * PICTURE_GAP_PX, height + 4))


def place_squares(fills: Sequence[str], columns: int, origin: tuple[float, float]) -> list[dict]:
    """Squares of these colours, row by row."""
    drawn = []
    for at, fill in enumerate(fills):
        x, y = origin[0] + at % columns * PATCH_SIDE_PX, origin[1] + at // columns * PATCH_SIDE_PX
        drawn.append(
            {"kind": "bar", "x": x, "x2": x + PATCH_SIDE_PX - 1, "y": y, "y2": y + PATCH_SIDE_PX - 1, "fill": fill}
        )
    return drawn
