"""Draws attention over image patches in three pictures: the image, one query's weights on the patches, the output as a
colour.

A patch's vector is its red, green and blue, each from -1 (none) to 1 (full).
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import box, cell_table, place_bar, place_matrix
from attention_core.drawing.palette import Palette, to_hex_colours
from attention_core.drawing.specifications import Picture, sized_specification
from attention_core.drawing.text_layout import PictureTexts, place_label
from attention_core.explanation.layout import gather_panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

PATCH_SIDE_PX = 58.0
PICTURE_GAP_PX = 40.0  # pixels between two pictures
PICTURES_TOP_PX = 26.0  # pixels at the top for the titles
DARKEST_CHANNEL, BRIGHTEST_CHANNEL = 60.0, 235.0  # channel values (0 to 255) for the numbers -1 and 1


def vector_colours(vectors: Float[np.ndarray, "n 3"]) -> list[str]:
    """Return the hex colours of vectors (red, green, blue); numbers are clipped to -1 and 1.

    >>> vector_colours(np.array([[1.0, -1.0, 0.0], [7.0, 1.0, 1.0]]))
    ['#eb3c94', '#ebebeb']
    """
    shares = (np.clip(vectors, -1.0, 1.0) + 1) / 2
    return to_hex_colours(DARKEST_CHANNEL + (BRIGHTEST_CHANNEL - DARKEST_CHANNEL) * shares)


def patches_per_row(patches: int) -> int:
    """Return how many patches lie side by side, so that the image is square or a little wider than high.

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
    """Draw three pictures: the image whose patches are the keys, one query's weights on the patches, and that query's
    output as a colour.

    at: the indices of batch, head and query. titles: the titles of the three pictures. Keys and values have three
    numbers each. chosen: the weight to outline, or None.
    """
    batch, _, query = at
    patches = trace.step("weights").shape[-1]
    columns = patches_per_row(patches)
    wide = columns * PATCH_SIDE_PX
    step = wide + PICTURE_GAP_PX  # from one picture's left edge to the next one's, in pixels
    keys = trace.step("key").window(B=batch)
    received = trace.step("output").window(B=batch, T=slice(query, query + 1))
    rows = place_squares(vector_colours(keys), columns, 0.0)
    rows += place_patch_weights(
        trace,
        at,
        words,
        palette,
        columns,
        left=step,
        chosen=chosen,
    )
    rows += place_squares(vector_colours(received), 1, 2 * step)
    for number, title in enumerate(titles):
        rows.append(place_label(title, number * step, 11, palette, align="left", size=15.0))
    width = 2 * step + wide
    height = PICTURES_TOP_PX + math.ceil(patches / columns) * PATCH_SIDE_PX
    return Picture(cell_table(rows), sized_specification(width, height + 4))


def place_patch_weights(
    trace: Trace,
    at: tuple[int, int, int],
    words: PictureTexts,
    palette: Palette,
    columns: int,
    left: float,
    chosen: Ref | None,
) -> list[dict]:
    """Return the cells of one query's weights, each at the position of its patch in the image.

    at: the indices of batch, head and query. columns: patches per row.
    """
    refs = [Ref("weights", (*at, patch)) for patch in range(trace.step("weights").shape[-1])]
    rows = []
    for first in range(0, len(refs), columns):
        line = gather_panel(trace, "weights", [refs[first : first + columns]], ("T", "S"))
        top = PICTURES_TOP_PX + first // columns * PATCH_SIDE_PX
        rows += place_matrix(
            line,
            trace,
            words,
            palette,
            (left, top),
            PATCH_SIDE_PX,
            chosen,
        )
    return rows


def place_squares(fills: Sequence[str], columns: int, left: float) -> list[dict]:
    """Return one square per colour of `fills`, row by row from the left edge `left`.

    columns: the number of squares per row.
    """
    side = PATCH_SIDE_PX - 1  # one pixel less, so that a line of background separates the squares
    drawn = []
    for number, fill in enumerate(fills):
        row, column = divmod(number, columns)
        x = left + column * PATCH_SIDE_PX
        y = PICTURES_TOP_PX + row * PATCH_SIDE_PX
        square = box(x, x + side, y, y + side)
        drawn.append(place_bar(square, fill))
    return drawn
