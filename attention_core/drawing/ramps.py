"""Draws the colour scales below attention maps, and below maps of differences."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from attention_core.drawing.cells import DARKEST_EVEN_SHARES, box, darkest_share, place_bar
from attention_core.drawing.palette import Palette, shade_cells
from attention_core.drawing.text_layout import place_label
from attention_core.record.number_text import choose_signed_format

RAMP_HEIGHT_PX, RAMP_TEXT_PX = 7, 13.0
RAMP_COLOURS, SIGNED_RAMP_COLOURS = 32, 33  # odd for signed numbers, so that the middle colour is that of 0
EVEN_TEXT_MARGINS_PX = 26, 40  # least distances in pixels of the label 1/S from the left and the right end


@lru_cache(maxsize=64)
def place_ramp(palette: Palette, x: float, y: float, width: float, keys: int, times: bool = False) -> tuple[dict, ...]:
    """Return the colour scale of attention weights: from 0 to 1, or in multiples of the uniform weight 1/S if `times`.

    A mark shows the uniform weight. keys: the number S of keys.
    """
    shares = np.linspace(0, 1, RAMP_COLOURS)
    fills, _ = shade_cells(shares, 1.0, True, palette)
    even_text, last_text = ramp_texts(keys, times)
    reach = darkest_share(keys, times)
    even = x + width / (keys * reach)
    even_mark = box(even - 1, even + 1, y - 3, y + RAMP_HEIGHT_PX + 3)
    rows = [
        *place_colour_strip(fills, x, y, width),
        place_bar(even_mark, palette.outline),
        place_ramp_text("0", x, y, "left", palette),
        place_ramp_text(last_text, x + width, y, "right", palette),
    ]
    if keys > 1:
        left, right = EVEN_TEXT_MARGINS_PX
        middle = max(even, x + left)
        middle = min(middle, x + width - right)
        rows.append(place_ramp_text(even_text, middle, y, "center", palette))
    return tuple(rows)


def ramp_texts(keys: int, times: bool) -> tuple[str, str]:
    """Return the labels at the uniform weight 1/S and at the end of the scale: in multiples of 1/S if `times`."""
    if not times:
        return f"1/{keys}", "1"
    if keys > DARKEST_EVEN_SHARES:
        return "1×", f"≥ {DARKEST_EVEN_SHARES}×"
    return "1×", f"{keys}×"


def place_signed_ramp(palette: Palette, x: float, y: float, width: float, reach: float) -> list[dict]:
    """Return the colour scale of differences, from -reach to reach, with 0 in the middle.

    If all differences are 0, the ends are labelled with a minus and a plus sign instead of numbers. reach: the number
    at the right end.
    """
    numbers = np.linspace(-1, 1, SIGNED_RAMP_COLOURS)
    fills, _ = shade_cells(numbers, 1.0, False, palette)
    least, most = "−", "+"
    if reach:
        write = choose_signed_format(reach)
        least = write(-reach)
        most = write(reach)
    middle = x + width / 2
    right = x + width
    return [
        *place_colour_strip(fills, x, y, width),
        place_ramp_text(least, x, y, "left", palette),
        place_ramp_text("0", middle, y, "center", palette),
        place_ramp_text(most, right, y, "right", palette),
    ]


def place_colour_strip(fills: Sequence[str], x: float, y: float, width: float) -> list[dict]:
    """Return a strip of the colours `fills` from left to right; each rectangle overlaps the next a little, so that no
    gap shows.
    """
    count = len(fills)
    rows = []
    for number, fill in enumerate(fills):
        left = x + number * width / count
        right = x + (number + 1) * width / count
        rectangle = box(left, right + 0.6, y, y + RAMP_HEIGHT_PX)
        rows.append(place_bar(rectangle, fill))
    return rows


def place_ramp_text(text: str, x: float, y: float, align: str, palette: Palette) -> dict:
    """Return the mark of a text (a number of the scale) below a colour scale that starts at y."""
    return place_label(text, x, y + 19, palette, size=RAMP_TEXT_PX, align=align)
