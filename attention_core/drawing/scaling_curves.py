"""How cost grows with the length: counted multiply-adds, or measured times, on logarithmic axes.

On such axes what grows with the square of the length has slope 2, what grows in proportion to it slope 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.record.number_text import format_grouped
from attention_core.variants.timing import fit_slope

COUNTED, MEASURED = "counted", "measured"
GROWTH_UNITS = {COUNTED: 1e6, MEASURED: 1e-3}  # kind -> unit: a million multiply-adds, a millisecond
GROWTH_WIDTH_PX, GROWTH_HEIGHT_PX = 300, 236  # pixels: two charts fit beside each other


@dataclass(frozen=True)
class GrowthLine:
    """The cost at each length, in multiply-adds or in seconds, under a name."""

    name: str
    colour: str
    points: Mapping[int, float]


def growth_curves(
    kind: str, lines: Sequence[GrowthLine], lengths: Sequence[int], titles: tuple[str, str], palette: Palette
) -> Picture:
    """Draws the lines that have points, over these lengths. kind: COUNTED in multiply-adds, dashed, or MEASURED in
    seconds. titles: of the axis of lengths, and of the other, which is in millions or in milliseconds.
    """
    drawn = [make_growth_curve(kind, line) for line in lines if line.points]
    across = Axis(
        titles[0],
        first=lengths[0],
        last=lengths[-1],
        log=True,
        values=tuple(lengths),
        texts=tuple(map(format_grouped, lengths)),
    )
    heights = [height for curve in drawn for height in curve.y]
    up = decade_axis(titles[1], heights)
    return curves(drawn, across, up, palette, width=GROWTH_WIDTH_PX, height=GROWTH_HEIGHT_PX)


def make_growth_curve(kind: str, line: GrowthLine) -> Curve:
    """A line in the unit of its kind."""
    heights = [cost / GROWTH_UNITS[kind] for cost in line.points.values()]
    return Curve(line.name, list(line.points), heights, line.colour, dashed=kind == COUNTED)


def growth_power(points: Mapping[int, float]) -> float | None:
    """The power of the length with which something grows, as timing.fit_slope; None for fewer than two lengths.

    >>> round(growth_power({10: 3.0, 20: 12.0, 40: 48.0}), 9), growth_power({10: 3.0})
    (2.0, None)
    """
    if len(points) < 2:
        return None
    return fit_slope(list(points), list(points.values()))
