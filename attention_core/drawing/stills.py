"""Draws animations as still pictures for slides and paper: lines as thick as weights, vectors as stripes, candidates
with bars.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import CELL_COLUMNS, box, fill_columns, place_bar
from attention_core.drawing.palette import Palette, blend_colours, to_hex_colours
from attention_core.drawing.specifications import Picture, still_specification
from attention_core.drawing.text_layout import place_fitted_label, place_label, text_width

STILL_COLUMNS = {
    **CELL_COLUMNS,
    "name": "",  # the same name in all table rows of one line
    "order": 0,
    "width": 1.0,
}
THREAD_POINTS = 25
THINNEST_PX, THICKER_PX = 1.0, 9.0  # in pixels: a line's thickness at weight 0, and what is added at weight 1
PALEST_SHARE = 0.12  # share of the colour in a line of weight 0

Point = tuple[float, float]
PALEST_STRIPE_SHARE = 0.05  # share of the colour in the stripe of a component 0
WORD_BAR_PX = 15.0  # pixels: text size of words and probabilities
WORD_LINE_PX = 25.0  # pixels from a word to the next one below
WORD_BAR_HEIGHT_PX = 13.0
LONGEST_WORD_SHARE = 0.45  # largest share of the width for a word; longer words are shortened
SHARE_ROOM_PX = 50.0  # pixels reserved for the probability after its bar


def still_picture(rows: Sequence[dict], width: float, height: float) -> Picture:
    """Return a picture without clicks, of width x height pixels, of the marks in these table rows."""
    return Picture(fill_columns(rows, STILL_COLUMNS), still_specification(width, height))


def blend_colour(colour: str, share: float, palette: Palette) -> str:
    """Mix a colour with the background.

    share: the share of the colour in the mixture, from 0 to 1.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> blend_colour("#000000", 0.2, LIGHT_PALETTE)
    '#cccccc'
    """
    (blended,) = to_hex_colours(blend_colours(palette.ground, colour, np.array([share])))
    return blended


def place_thread(name: str, bends: Sequence[Point], weight: float, colour: str, palette: Palette) -> list[dict]:
    """Return a line between a query and a key ("thread") as a Bézier curve: one table row per point of the curve.

    name: unique in the picture, because points of one name form a line. bends: start, two control points, end. weight:
    from 0 to 1; a larger weight gives a thicker line with a stronger colour.
    """
    look = {
        "kind": "thread",
        "name": name,
        "width": THINNEST_PX + THICKER_PX * weight,
        "fill": blend_colour(colour, PALEST_SHARE + (1 - PALEST_SHARE) * weight, palette),
    }
    return [look | {"x": x, "y": y, "order": order} for order, (x, y) in enumerate(curve_points(bends))]


def curve_points(bends: Sequence[Point]) -> list[list[float]]:
    """Return points along a cubic Bézier curve, from start to end. bends: start, two control points, end.

    >>> points = curve_points([(0, 0), (0, 4), (8, 4), (8, 0)])
    >>> points[0], points[THREAD_POINTS // 2], points[-1]
    ([0.0, 0.0], [4.0, 3.0], [8.0, 0.0])
    """
    points = np.array(bends, dtype=float)[:, None]  # (4, 1, 2)
    t = np.linspace(0.0, 1.0, THREAD_POINTS)[:, None]  # (points, 1): parameter of the curve, from 0 to 1
    while len(points) > 1:
        points = points[:-1] + t * (points[1:] - points[:-1])  # de Casteljau's algorithm: each pass has one point less
    return points[0].tolist()


def place_stripes(
    sizes: Float[np.ndarray, " d"],
    colours: Sequence[str],
    place: dict[str, float],
    palette: Palette,
    is_lying: bool = False,
) -> Iterator[dict]:
    """Yield a vector's numbers as stripes, one below the other, or side by side if is_lying.

    sizes: each number's size, from 0 to 1, which sets the strength of its stripe's colour. colours: the colour of each
    stripe. place: the rectangle that the stripes fill.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> place = {"x": 0, "x2": 5, "y": 0, "y2": 8}
    >>> stripes = place_stripes(np.array([1.0, 0.0]), ["#000000"] * 2, place, LIGHT_PALETTE)
    >>> [(stripe["fill"], stripe["y"], stripe["y2"]) for stripe in stripes]
    [('#000000', 0.0, 4.0), ('#f2f2f2', 4.0, 8.0)]
    """
    strengths = PALEST_STRIPE_SHARE + (1 - PALEST_STRIPE_SHARE) * np.clip(sizes, 0, 1)
    fills = [blend_colour(colour, share, palette) for colour, share in zip(colours, strengths, strict=True)]
    first, last = ("x", "x2") if is_lying else ("y", "y2")
    edges = np.linspace(place[first], place[last], len(fills) + 1).tolist()
    for fill, (start, end) in zip(fills, pairwise(edges), strict=True):
        yield place_bar(place | {first: start, last: end}, fill)


def place_word_bars(
    shares: Sequence[tuple[str, float]],
    corner: tuple[float, float],
    room: float,
    write: Callable[[float], str],
    palette: Palette,
) -> Iterator[dict]:
    """Yield the marks of the candidates for the next word, one below the other: word, bar and probability.

    shares: the candidates, as (word, probability). corner: the upper left corner. room: the total width in pixels.
    write: a function that formats a probability.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> bars = [*place_word_bars([("can", 1.0), ("did", 0.0)], (0, 0), 200.0, str, LIGHT_PALETTE)]
    >>> [bar["text"] for bar in bars if bar["kind"] == "label"]
    ['can', '1.0', 'did', '0.0']
    """
    left, top = corner
    longest = max(text_width(word, WORD_BAR_PX) for word, _ in shares)
    names = min(longest, LONGEST_WORD_SHARE * room)
    start = left + names + 8
    field = room - names - 8 - SHARE_ROOM_PX
    for number, (word, share) in enumerate(shares):
        y = top + (number + 0.5) * WORD_LINE_PX
        end = start + field * share
        half = WORD_BAR_HEIGHT_PX / 2
        yield place_fitted_label(word, left, y, names, WORD_BAR_PX, palette)
        yield place_bar(box(start, end, y - half, y + half), palette.share)
        yield place_label(write(share), end + 6, y, palette, align="left", size=WORD_BAR_PX)
