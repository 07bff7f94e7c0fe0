"""How cost grows with the length: counted multiply-adds and measured times on one pair of logarithmic axes.

A million multiply-adds stands as high as a millisecond. On such axes what grows with the square of the length has slope
2, what grows in proportion to it slope 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.record.number_text import format_grouped
from attention_core.variants.timing import fit_slope

MILLION, MILLI = 1e6, 1e-3
GROWTH_HEIGHT_PX = 236


@dataclass(frozen=True)
class GrowthLine:
    """What something costs at each length: `counted` in multiply-adds, drawn dashed, or measured, in `seconds`."""

    name: str
    colour: str
    counted: Mapping[int, int] = field(default_factory=dict)
    seconds: Mapping[int, float] = field(default_factory=dict)


def growth_curves(
    lines: Sequence[GrowthLine], lengths: Sequence[int], titles: tuple[str, str], palette: Palette
) -> Picture:
    """The lines that have points, on axes over these lengths. titles: of the axis of lengths, and of the other."""
    drawn = []
    for line in lines:
        drawn += curves_of_line(line)
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
    return curves(drawn, across, up, palette, height=GROWTH_HEIGHT_PX)


def curves_of_line(line: GrowthLine) -> list[Curve]:
    """What was counted of a line and what was measured, as curves."""
    millions = [count / MILLION for count in line.counted.values()]
    milliseconds = [seconds / MILLI for seconds in line.seconds.values()]
    drawn = []
    if millions:
        lengths = list(line.counted)
        drawn.append(Curve(line.name, lengths, millions, line.colour, dashed=True))
    if milliseconds:
        lengths = list(line.seconds)
        drawn.append(Curve(line.name, lengths, milliseconds, line.colour))
    return drawn


def growth_power(points: Mapping[int, float]) -> float | None:
    """The power of the length with which something grows, as timing.fit_slope; None for fewer than two lengths.

    >>> round(growth_power({10: 3.0, 20: 12.0, 40: 48.0}), 9), growth_power({10: 3.0})
    (2.0, None)
    """
    if len(points) < 2:
        return None
    return fit_slope(list(points), list(points.values()))


def time_ratio(slow: float, fast: float) -> float:
    """How many times as long the one takes as the other.

    >>> time_ratio(0.3, 0.1) == 0.3 / 0.1
    True
    """
    return slow / fast
