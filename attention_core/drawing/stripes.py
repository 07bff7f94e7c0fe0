"""A vector as stripes, one per number: the larger the number, the more of its colour."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import place_bar
from attention_core.drawing.palette import Palette
from attention_core.drawing.stills import blend_colour

PALEST_STRIPE_SHARE = 0.05  # share of the vector's colour in the stripe of a 0


def place_stripes(
    sizes: Float[np.ndarray, " d"],
    colours: Sequence[str],
    place: dict[str, float],
    palette: Palette,
    is_lying: bool = False,
) -> Iterator[dict]:
    """The stripes of a vector, one below the other. sizes: each number's size, from 0 to 1. colours: of each.
    is_lying: whether they are side by side instead.

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
