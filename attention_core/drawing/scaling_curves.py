"""How cost grows with the length: counted multiply-adds and measured times on one pair of logarithmic axes.

Both have the same numbers along the axis: a million multiply-adds stands as high as a millisecond. On such axes what
grows with the square of the length has slope 2, what grows in proportion slope 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attention_core.drawing.charts import Axis, Picture
from attention_core.drawing.curves import Curve, curves, decade_axis
from attention_core.drawing.palette import Palette
from attention_core.record.number_text import format_grouped
from attention_core.variants.timing import fit_slope

MILLION, MILLI = 1e6, 1e-3
GROWTH_HEIGHT_PX = 236  # pixels


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
    drawn = [curve for line in lines for curve in curves_of_line(line)]
    across = Axis(titles[0], lengths[0], lengths[-1], True, tuple(lengths), tuple(map(format_grouped, lengths)))
    up = decade_axis(titles[1], [y for curve in drawn for y in curve.y])
    return curves(drawn, across, up, palette, height=GROWTH_HEIGHT_PX)


def curves_of_line(line: GrowthLine) -> list[Curve]:
    """What was counted of it and what was measured, as curves."""
    counted = Curve(line.name, [*line.counted], [n / MILLION for n in line.counted.values()], line.colour, dashed=True)
    measured = Curve(line.name, [*line.seconds], [s / MILLI for s in line.seconds.values()], line.colour)
    return [curve for curve in (counted, measured) if curve.x]


def growth_power(points: Mapping[int, float]) -> float | None:
    """The power with which it grows (fitted_slope); None where there are no two lengths.

    >>> round(growth_power({10: 3.0, 20: 12.0, 40: 48.0}), 9), growth_power({10: 3.0})
    (2.0, None)
    """
    return fit_slope([*points], [*points.values()]) if len(points) > 1 else None


def time_ratio(slow: float, fast: float) -> float:
    """How many times as long the one takes as the other.

    >>> time_ratio(0.3, 0.1) == 0.3 / 0.1
    True
    """
    return slow / fast
