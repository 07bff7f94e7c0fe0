"""Curves: a quantity against another on real axes, named at their ends, with bands and points that tell numbers.

A zero has no place on a logarithmic axis: it stands at the axis' end as an open triangle, and says 0. Where a curve
lies under another for a stretch it is wider, so that it looks out on both sides.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attention_core.drawing.charts import Axis, Picture, curve_specification
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import text_width
from attention_core.record.number_text import format_exact, format_fixed

CURVE_WIDTH_PX, CURVE_HEIGHT_PX = 640, 300  # pixels of the field between the axes
AXIS_ROOM_PX = 90  # pixels at the left of it
CURVE_NAME_STEP_PX = 17.0  # from one name to the next
THICK = 2.5  # pixels of a line
CLOSE = 2.0  # pixels between two lines of which the lower one is hidden; from there on both are seen
RIM = 2.5  # pixels by which a line looks out on each side of one that lies on it
MANY_POINTS, SMALL_POINT_AREA_PX = 48, 16.0  # points of a curve, of more each is that small: square pixels
CURVE_COLUMNS = {
    "kind": "point",  # point, zero, band, under, bar, rule or text
    "x": 0.0,
    "x2": 0.0,
    "y": 0.0,
    "y2": 0.0,
    "name": "",
    "fill": "",
    "dashed": False,
    "size": 60.0,
    "width": THICK,
    "said": "",
}


@dataclass(frozen=True)
class Curve:
    """Points from left to right under one name. dashed: what was worked out, not measured. band: from where to where
    each point may lie."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    dashed: bool = False
    band: Sequence[tuple[float, float]] = ()


def curves(
    drawn: Sequence[Curve],
    x: Axis,
    y: Axis,
    palette: Palette,
    at: float | None = None,
    width: int = CURVE_WIDTH_PX,
    height: int = CURVE_HEIGHT_PX,
) -> Picture:
    """The curves on these axes; at: where an upright line stands, such as what is chosen.

    Raises ValueError where a curve's x and y are not equally many.
    """
    rows = []
    for curve, piled in zip(drawn, piles(drawn, x, y, height), strict=True):
        rows += rims(curve, piled, y)
        for place, (low, high) in zip(curve.x, curve.band, strict=bool(curve.band)):
            band = {"kind": "band", "x": place, "y": clamp_to_axis(low, y), "y2": clamp_to_axis(high, y)}
            rows.append(band | {"name": curve.name, "fill": curve.colour})
        size = SMALL_POINT_AREA_PX if len(curve.x) > MANY_POINTS else CURVE_COLUMNS["size"]
        for place, value, depth in zip(curve.x, curve.y, at_points(piled), strict=True):
            rows.append(
                {
                    "kind": "zero" if y.log and value <= 0 else "point",
                    "x": place,
                    "y": clamp_to_axis(value, y),
                    "name": curve.name,
                    "fill": curve.colour,
                    "dashed": curve.dashed,
                    "size": round((math.sqrt(size) + 2 * RIM * depth) ** 2, 1),
                    "said": f"{curve.name}: {format_exact(place)} → {format_exact(value)}",
                }
            )
    longest = max((text_width(curve.name, 14.0) for curve in drawn), default=0.0)
    rows += place_curve_names(drawn, y, height)
    if at is not None:
        rows.append({"kind": "rule", "x": at, "fill": palette.outline})
    return Picture(curve_table(rows), with_margins(curve_specification(x, y, palette, width, height), longest))


# ---- what lies under another curve -----------------------------------------------------------------------------------
Piled = list[int]  # of each stretch of a curve, from point to point: how many later ones lie on it
Line = tuple[list[float], list[float]]  # the points of a curve: how far along, and how far down


def piles(drawn: Sequence[Curve], x: Axis, y: Axis, height: int) -> list[Piled]:
    """How many curves lie on each stretch of each one: the later a curve, the further up it is drawn."""
    lines = [line_of(curve, x, y, height) for curve in drawn]
    found = []
    for later, line in enumerate(lines, 1):
        none = [False for _ in pairwise(line[0])]
        hidden = [lies_on(over, line) for over in lines[later:]]
        stretches = zip(none, *hidden, strict=True)
        found.append(list(map(sum, stretches)))
    return found


def line_of(curve: Curve, x: Axis, y: Axis, height: int) -> Line:
    """Where a curve is drawn: how far along from left to right, in no unit, and how far down, in pixels."""
    along = [-pixels_below_top(place, x, 1) for place in curve.x]
    return along, [pixels_below_top(value, y, height) for value in curve.y]


def lies_on(over: Line, line: Line) -> list[bool]:
    """Which stretches of a line are hidden by another one."""
    places, heights = line
    there = np.interp(places, *over, left=np.nan, right=np.nan)
    apart = np.abs(there - np.array(heights))
    near = apart < CLOSE
    both_ends = near[:-1] & near[1:]
    return both_ends.tolist()


def rims(curve: Curve, piled: Piled, y: Axis) -> Iterator[dict]:
    """The stretches of a curve that others lie on, each wider than those."""
    heights = [clamp_to_axis(value, y) for value in curve.y]
    points = zip(curve.x, heights, strict=True)
    for (start, end), depth in zip(pairwise(points), piled, strict=True):
        if depth == 0:
            continue
        rim = {"kind": "under", "name": curve.name, "fill": curve.colour, "dashed": curve.dashed}
        rim["x"], rim["y"] = start
        rim["x2"], rim["y2"] = end
        rim["width"] = THICK + 2 * RIM * depth
        yield rim


def at_points(piled: Piled) -> list[int]:
    """How many curves lie on each point of a curve: on the stretch before it, or behind it.

    >>> at_points([0, 2, 0]), at_points([])
    ([0, 2, 2, 0], [0])
    """
    before, behind = [0, *piled], [*piled, 0]
    return list(map(max, before, behind))


# ---- other charts, and what all have ---------------------------------------------------------------------------------
def histogram_picture(
    edges: Sequence[float],
    shares: Sequence[Sequence[float]],
    colours: Sequence[str],
    x: Axis,
    y: Axis,
    palette: Palette,
) -> Picture:
    """Shares of draws between edges, one row of shares a colour, drawn over each other."""
    rows = [
        {
            "kind": "bar",
            "x": left,
            "x2": right,
            "y": share,
            "fill": colour,
            "said": f"{format_fixed(left)}: {format_exact(share)}",
        }
        for row, colour in zip(shares, colours, strict=True)
        for (left, right), share in zip(pairwise(edges), row, strict=True)
    ]
    return Picture(curve_table(rows), with_margins(curve_specification(x, y, palette, CURVE_WIDTH_PX, CURVE_HEIGHT_PX)))


def decade_axis(title: str, numbers: Iterable[float], last: float | None = None) -> Axis:
    """A logarithmic axis from the power of ten below the smallest number above 0 to the one above the largest, or to
    `last`; with at most a dozen numbers on it.

    >>> axis = decade_axis("share", [0.0, 0.03, 0.4])
    >>> axis.first, axis.last
    (0.01, 1.0)
    """
    above = [number for number in numbers if number > 0] or [1.0]
    low, high = math.floor(math.log10(min(above))), math.ceil(math.log10(last or max(above)))
    low = min(low, high - 1)
    every = math.ceil((high - low) / 12)
    return Axis(title, 10.0**low, 10.0**high, log=True, values=tuple(10.0**p for p in range(high, low - 1, -every)))


TICK_STEPS = tuple(
    digit * 10**power for power in range(10) for digit in (1, 2, 5)
)  # from one written number to the next


def whole_number_axis(title: str, numbers: Iterable[int]) -> Axis:
    """An axis of whole numbers from the least to the most of them, with at most 13 of them written on it.

    >>> whole_number_axis("distance", range(-2, 21)).values
    (-2, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
    """
    numbers = list(numbers)
    first, last = min(numbers), max(numbers)
    every = next(step for step in TICK_STEPS if (last - first) / step <= 12)
    written = range(math.ceil(first / every) * every, last + 1, every)  # so that 0 is among them
    return Axis(title, first, max(last, first + 1), values=tuple(written))


def clamp_to_axis(value: float, axis: Axis) -> float:
    """A value as it can be drawn on an axis: the axis ends where it ends."""
    return min(max(value, axis.first), axis.last)


def place_curve_names(drawn: Sequence[Curve], y: Axis, height: int) -> list[dict]:
    """Each curve's name behind its last point, moved down where two would stand on each other, and up again where that
    would lead below the field; in pixels."""
    ends = sorted((pixels_below_top(curve.y[-1], y, height), curve.x[-1], curve.name, curve.colour) for curve in drawn)
    texts, free = [], -CURVE_NAME_STEP_PX
    for place, x, name, colour in ends:
        free = max(place, free + CURVE_NAME_STEP_PX)
        texts.append({"kind": "text", "x": x, "y": free, "name": name, "fill": colour})
    last = height
    for text in reversed(texts):
        text["y"] = min(text["y"], last)
        last = text["y"] - CURVE_NAME_STEP_PX
    return texts


def pixels_below_top(value: float, axis: Axis, height: int) -> float:
    """How far below the top of the field a value is drawn.

    >>> pixels_below_top(10.0, Axis("", 1.0, 100.0, log=True), 300)
    150.0
    """
    measure = math.log if axis.log else float
    first, last, at = (measure(number) for number in (axis.first, axis.last, clamp_to_axis(value, axis)))
    return height * (last - at) / (last - first)


def with_margins(spec: dict, longest: float = 0.0) -> dict:
    """The specification with room beside its field: for the axis, and at the right for the longest name. That is how
    wide the picture is where there is room; on a narrow screen its field gives way."""
    return spec | {
        "width": spec["width"] + AXIS_ROOM_PX + int(longest) + 20,
        "padding": {"left": 4, "top": 10, "bottom": 4, "right": 4},
    }


def curve_table(rows: Sequence[dict]) -> dict[str, list]:
    """The rows as columns, every one filled."""
    return {column: [row.get(column, usual) for row in rows] for column, usual in CURVE_COLUMNS.items()}
