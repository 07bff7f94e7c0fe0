"""Still pictures of animations, for slides and paper: rectangles, texts, and threads as thick as weights."""

from collections.abc import Sequence

import numpy as np

from attention_core.drawing.cells import CELL_COLUMNS, fill_columns
from attention_core.drawing.palette import Palette, blend_colours, to_hex_colours
from attention_core.drawing.specifications import Picture, still_specification

STILL_COLUMNS = {
    **CELL_COLUMNS,
    "name": "",  # identifies a thread, which has a row for each of its points
    "order": 0,
    "width": 1.0,
}
THREAD_POINTS = 25
THINNEST_PX, THICKER_PX = 1.0, 9.0  # pixels: the thickness at weight 0, and the increase up to weight 1
PALEST_SHARE = 0.12  # share of the thread colour in a thread of weight 0

Point = tuple[float, float]


def still_picture(rows: Sequence[dict], width: float, height: float) -> Picture:
    """A picture of table rows, at a size in pixels."""
    return Picture(fill_columns(rows, STILL_COLUMNS), still_specification(width, height))


def blend_colour(colour: str, share: float, palette: Palette) -> str:
    """A colour mixed with the background. share: of the colour, from 0 to 1.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> blend_colour("#000000", 0.2, LIGHT_PALETTE)
    '#cccccc'
    """
    (blended,) = to_hex_colours(blend_colours(palette.ground, colour, np.array([share])))
    return blended


def place_thread(name: str, bends: Sequence[Point], weight: float, colour: str, palette: Palette) -> list[dict]:
    """A thread as a Bézier curve. name: unique in the picture. bends: its start, two control points, its end. weight:
    from 0 to 1; the larger, the thicker and stronger.
    """
    look = {
        "kind": "thread",
        "name": name,
        "width": THINNEST_PX + THICKER_PX * weight,
        "fill": blend_colour(colour, PALEST_SHARE + (1 - PALEST_SHARE) * weight, palette),
    }
    return [look | {"x": x, "y": y, "order": order} for order, (x, y) in enumerate(curve_points(bends))]


def curve_points(bends: Sequence[Point]) -> list[list[float]]:
    """Points of a cubic Bézier curve, from its start to its end. bends: its control points.

    >>> points = curve_points([(0, 0), (0, 4), (8, 4), (8, 0)])
    >>> points[0], points[THREAD_POINTS // 2], points[-1]
    ([0.0, 0.0], [4.0, 3.0], [8.0, 0.0])
    """
    points = np.array(bends, dtype=float)[:, None]  # (4, 1, 2)
    t = np.linspace(0.0, 1.0, THREAD_POINTS)[:, None]  # (points, 1)
    while len(points) > 1:
        points = points[:-1] + t * (points[1:] - points[:-1])  # de Casteljau: one point less, (bends, points, 2)
    return points[0].tolist()
