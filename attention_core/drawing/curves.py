"""Draws charts on two axes: curves with bands and points, growth on logarithmic axes, and number pairs as dumbbells.

A logarithmic axis has no 0: a zero is drawn as an open triangle at its end, with 0 in the tooltip. Where one curve
covers another, the covered curve is drawn wider, so that it is visible on both sides. On two logarithmic axes, a cost
that grows with the length has slope 1, one that grows with its square slope 2.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attention_core.drawing.axes import Axis, clamp_to_axis, decade_axis, pixels_below_top
from attention_core.drawing.cells import fill_columns
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture, curve_specification
from attention_core.drawing.text_layout import text_width
from attention_core.record.number_text import format_exact, format_fixed, format_grouped
from attention_core.variants.timing import fit_slope

CURVE_WIDTH_PX, CURVE_HEIGHT_PX = 640, 300  # in pixels: the size of the area between the axes
AXIS_ROOM_PX = 90  # in pixels: the space at the left of the area between the axes
CURVE_NAME_PX, CURVE_NAME_STEP_PX = 14.0, 17.0  # pixels: letter size of curve names, least distance of two names
LINE_WIDTH_PX = 2.5
HIDING_DISTANCE_PX = 2.0  # in pixels: a line counts as covered if another one is nearer than this
RIM_WIDTH_PX = 2.5  # in pixels: how far a covered line shows on each side of the covering line
MANY_POINTS, SMALL_POINT_AREA_PX = 48, 16.0  # pixels²: a curve of more points has smaller points, of this area
CURVE_COLUMNS = {
    "kind": "point",  # what the row draws: a point (default), zero, band, under, bar, rule or text
    "x": 0.0,
    "x2": 0.0,
    "y": 0.0,
    "y2": 0.0,
    "name": "",
    "fill": "",
    "dashed": False,
    "size": 60.0,
    "width": LINE_WIDTH_PX,
    "said": "",
}
COUNTED, MEASURED = "counted", "measured"
GROWTH_UNITS = {COUNTED: 1e6, MEASURED: 1e-3}  # kind of cost -> what counts as 1 on the axis
GROWTH_WIDTH_PX, GROWTH_HEIGHT_PX = 300, 236  # the size of a chart in pixels, so that two fit side by side
DUMBBELL_WIDTH_PX, DUMBBELL_ROW_PX = 560, 66  # in pixels: width between the axes, height of a row
TOLD_PX = 15  # in pixels: from the top of a row to its sentence
BAR_BELOW_MIDDLE_SHARE = 0.16  # a dumbbell's distance below the middle of its row, as a share of the row's height
BAR_HALF_HEIGHT_SHARE, WHISKER_HALF_HEIGHT_SHARE = 0.02, 0.09  # half heights, as shares of a row's height
DUMBBELL_POINT_AREA_PX = 190.0  # the area of a point in square pixels
END_NAME_ROOM_PX = 40


@dataclass(frozen=True)
class Curve:
    """A named curve: its points from left to right, and how it is drawn.

    dashed: True if the numbers were computed, not measured. band: the lower and upper bound of each point.
    """

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
    """Draw curves on two axes. at: the x of a vertical line, such as the selected value.

    Raises ValueError if a curve has different numbers of x and y.
    """
    rows = []
    covers = count_covers(drawn, x, y, height)
    for curve, counts in zip(drawn, covers, strict=True):
        rows += place_covered_stretches(curve, counts, y)
        rows += place_band(curve, y)
        rows += place_points(curve, counts, y)
    rows += place_curve_names(drawn, y, height)
    if at is not None:
        rows.append({"kind": "rule", "x": at, "fill": palette.outline})
    name_widths = [text_width(curve.name, CURVE_NAME_PX) for curve in drawn]
    longest = max(name_widths, default=0.0)
    specification = curve_specification(x, y, palette, width, height)
    return Picture(curve_table(rows), with_margins(specification, longest))


def place_band(curve: Curve, y: Axis) -> list[dict]:
    """Return the marks of the area between the lower and upper bounds of a curve's points."""
    if not curve.band:
        return []
    rows = []
    for place, (low, high) in zip(curve.x, curve.band, strict=True):
        rows.append(
            {
                "kind": "band",
                "x": place,
                "y": clamp_to_axis(low, y),
                "y2": clamp_to_axis(high, y),
                "name": curve.name,
                "fill": curve.colour,
            }
        )
    return rows


def place_points(curve: Curve, counts: Sequence[int], y: Axis) -> list[dict]:
    """Return the marks of a curve's points.

    counts: how many later curves cover each stretch of the curve.
    """
    area = SMALL_POINT_AREA_PX if len(curve.x) > MANY_POINTS else CURVE_COLUMNS["size"]
    rows = []
    for place, value, covers in zip(curve.x, curve.y, covers_at_points(counts), strict=True):
        side = math.sqrt(area) + 2 * RIM_WIDTH_PX * covers
        rows.append(
            {
                "kind": "zero" if y.log and value <= 0 else "point",
                "x": place,
                "y": clamp_to_axis(value, y),
                "name": curve.name,
                "fill": curve.colour,
                "dashed": curve.dashed,
                "size": round(side**2, 1),
                "said": f"{curve.name}: {format_exact(place)} → {format_exact(value)}",
            }
        )
    return rows


def place_curve_names(drawn: Sequence[Curve], y: Axis, height: int) -> list[dict]:
    """Return the labels of the curves, each after the curve's last point.

    A name that would overlap another is moved down. If that moves it below the area, all names are moved up again.
    """
    ends = []
    for curve in drawn:
        place = pixels_below_top(curve.y[-1], y, height)
        ends.append((place, curve.x[-1], curve.name, curve.colour))
    texts = []
    free = -CURVE_NAME_STEP_PX
    for place, x, name, colour in sorted(ends):
        free = max(place, free + CURVE_NAME_STEP_PX)
        texts.append(
            {
                "kind": "text",
                "x": x,
                "y": free,
                "name": name,
                "fill": colour,
            }
        )
    last = height
    for text in reversed(texts):
        text["y"] = min(text["y"], last)
        last = text["y"] - CURVE_NAME_STEP_PX
    return texts


# ---- curves that cover others ----------------------------------------------------------------------------------------
Line = tuple[list[float], list[float]]  # a curve in pixels: its points' x and y, from the left and the top


def count_covers(drawn: Sequence[Curve], x: Axis, y: Axis, height: int) -> list[list[int]]:
    """Count, for each stretch between two points of a curve, by how many later curves it is covered.

    Later curves are drawn on top, and so can hide earlier ones.
    """
    lines = [line_of(curve, x, y, height) for curve in drawn]
    covers = []
    for next_curve, line in enumerate(lines, start=1):
        along, _ = line
        stretches = max(len(along) - 1, 0)
        counts = np.zeros(stretches, dtype=int)
        for over in lines[next_curve:]:
            counts += covered_stretches(over, line)
        covers.append(counts.tolist())
    return covers


def line_of(curve: Curve, x: Axis, y: Axis, height: int) -> Line:
    """Return a curve's points as drawn: each x as a share of the width from the left, each y in pixels from the top."""
    along = []
    down = []
    for place, value in zip(curve.x, curve.y, strict=True):
        along.append(-pixels_below_top(place, x, 1))
        down.append(pixels_below_top(value, y, height))
    return along, down


def covered_stretches(over: Line, line: Line) -> np.ndarray:
    """Return, for each stretch between two points of a line, whether another line hides both ends of the stretch.

    over: the line that may hide `line`. Returns a boolean array.
    """
    along, down = line
    height_of_other = np.interp(along, *over, left=np.nan, right=np.nan)
    distance = np.abs(height_of_other - np.array(down))
    is_hidden = distance < HIDING_DISTANCE_PX
    starts, ends = is_hidden[:-1], is_hidden[1:]
    return starts & ends


def place_covered_stretches(curve: Curve, counts: Sequence[int], y: Axis) -> list[dict]:
    """Return the covered stretches of a curve as lines, which are wider than all covering curves together and so stay
    visible."""
    heights = [clamp_to_axis(value, y) for value in curve.y]
    points = zip(curve.x, heights, strict=True)
    rows = []
    for (start, end), covers in zip(pairwise(points), counts, strict=True):
        if covers == 0:
            continue
        rows.append(
            {
                "kind": "under",
                "x": start[0],
                "y": start[1],
                "x2": end[0],
                "y2": end[1],
                "name": curve.name,
                "fill": curve.colour,
                "dashed": curve.dashed,
                "width": LINE_WIDTH_PX + 2 * RIM_WIDTH_PX * covers,
            }
        )
    return rows


def covers_at_points(counts: Sequence[int]) -> list[int]:
    """Return how many curves cover each point: the larger count of the two stretches beside the point.

    >>> covers_at_points([0, 2, 0]), covers_at_points([])
    ([0, 2, 2, 0], [0])
    """
    before = [0, *counts]
    behind = [*counts, 0]
    return list(map(max, before, behind))


# ---- histograms, and parts of all charts -----------------------------------------------------------------------------
def histogram_picture(
    edges: Sequence[float],
    shares: Sequence[Sequence[float]],
    colours: Sequence[str],
    x: Axis,
    y: Axis,
    palette: Palette,
) -> Picture:
    """Draw several histograms over each other.

    shares: the share of samples between two edges, one sequence per histogram. colours: one colour per histogram.
    """
    rows = []
    for heights, colour in zip(shares, colours, strict=True):
        for (left, right), height in zip(pairwise(edges), heights, strict=True):
            rows.append(
                {
                    "kind": "bar",
                    "x": left,
                    "x2": right,
                    "y": height,
                    "fill": colour,
                    "said": f"{format_fixed(left)}: {format_exact(height)}",
                }
            )
    specification = curve_specification(x, y, palette, CURVE_WIDTH_PX, CURVE_HEIGHT_PX)
    return Picture(curve_table(rows), with_margins(specification))


def with_margins(spec: dict, longest: float = 0.0) -> dict:
    """Return the specification with a left margin for the axis and a right margin for the longest name.

    On a narrow screen, the area between the axes shrinks. longest: the width of the longest name in pixels.
    """
    return spec | {
        "width": spec["width"] + AXIS_ROOM_PX + int(longest) + 20,
        "padding": {"left": 4, "top": 10, "bottom": 4, "right": 4},
    }


def curve_table(rows: Sequence[dict]) -> dict[str, list]:
    """Turn the table rows of a curve picture into columns: a mapping from column name to values."""
    return fill_columns(rows, CURVE_COLUMNS)


# ---- how cost grows with the length ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class GrowthLine:
    """A line of a chart of costs: its name, and the cost at each length, in multiply-adds or in seconds."""

    name: str
    colour: str
    points: Mapping[int, float]


def growth_curves(
    kind: str, lines: Sequence[GrowthLine], lengths: Sequence[int], titles: tuple[str, str], palette: Palette
) -> Picture:
    """Draw one curve of cost over length for each line that has points, on two logarithmic axes.

    kind: COUNTED, costs in multiply-adds, drawn dashed; or MEASURED, costs in seconds. titles: the titles of the axis
    of lengths and of the cost axis, which is in millions or in milliseconds.
    """
    drawn = []
    for line in lines:
        if line.points:
            heights = [cost / GROWTH_UNITS[kind] for cost in line.points.values()]
            drawn.append(Curve(line.name, list(line.points), heights, line.colour, dashed=kind == COUNTED))
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


def growth_power(points: Mapping[int, float]) -> float | None:
    """Return the exponent p in cost ~ length^p, fitted to the points {length: cost}; None for fewer than 2 lengths.

    >>> round(growth_power({10: 3.0, 20: 12.0, 40: 48.0}), 9), growth_power({10: 3.0})
    (2.0, None)
    """
    if len(points) < 2:
        return None
    return fit_slope(list(points), list(points.values()))


# ---- dumbbells -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class DumbbellEnd:
    """One end of a dumbbell: a quantity's value with its interval.

    name: the name of the quantity. interval: the lower and the upper bound of the value.
    """

    name: str
    value: float
    interval: tuple[float, float]
    colour: str


@dataclass(frozen=True)
class DumbbellRow:
    """A row of a dumbbell chart.

    told: the sentence above the dumbbell.
    """

    name: str
    told: str
    ends: Sequence[DumbbellEnd]


def dumbbells(rows: Sequence[DumbbellRow], x: Axis, palette: Palette) -> Picture:
    """Draw a dumbbell chart: a sentence per row, and below it two points with their intervals, joined by a bar.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> ends = [DumbbellEnd("a", 0.2, (0.1, 0.3), "#000"), DumbbellEnd("b", 0.7, (0.6, 0.8), "#111")]
    >>> picture = dumbbells([DumbbellRow("first", "a 0.2, b 0.7", ends)], Axis("shift", 0.0, 1.0), LIGHT_PALETTE)
    >>> [round(at, 2) for kind, at in zip(picture.table["kind"], picture.table["x"]) if kind == "point"]
    [0.2, 0.7]
    """
    count = len(rows)
    heights = [count - number - BAR_BELOW_MIDDLE_SHARE for number in range(count)]  # the first row is highest
    drawn = []
    for number, (row, height) in enumerate(zip(rows, heights, strict=True)):
        drawn.append(place_sentence(row.told, DUMBBELL_ROW_PX * number + TOLD_PX, x, palette))
        drawn += place_dumbbell(row.name, row.ends, height, palette)
    y = Axis(
        title="",
        first=0.5,
        last=count + 0.5,
        values=tuple(heights),
        texts=("",) * count,
    )
    height = DUMBBELL_ROW_PX * count
    specification = curve_specification(x, y, palette, DUMBBELL_WIDTH_PX, height)
    return Picture(curve_table(drawn), with_margins(specification, END_NAME_ROOM_PX))


def place_sentence(told: str, below: float, x: Axis, palette: Palette) -> dict:
    """Return the mark of a sentence at the left edge.

    below: the distance from the top in pixels.
    """
    return {"kind": "text", "x": x.first, "y": below, "name": told, "fill": palette.ink}


def place_dumbbell(name: str, ends: Sequence[DumbbellEnd], height: float, palette: Palette) -> list[dict]:
    """Return the marks of a row's dumbbell: the bar, and the interval and the point of each end."""
    low = min(end.value for end in ends)
    high = max(end.value for end in ends)
    drawn = [
        {
            "kind": "bar",
            "x": low,
            "x2": high,
            "y": height - BAR_HALF_HEIGHT_SHARE,
            "y2": height + BAR_HALF_HEIGHT_SHARE,
            "fill": palette.faint,
            "said": f"{name}: {format_exact(low)} … {format_exact(high)}",
        }
    ]
    for end in ends:
        drawn += place_end(name, end, height)
    return drawn


def place_end(name: str, end: DumbbellEnd, height: float) -> list[dict]:
    """Return the marks of a dumbbell's end: the interval, and the point on top of the interval."""
    low, high = end.interval
    said = f"{name}, {end.name}: {format_exact(end.value)} ({format_exact(low)} … {format_exact(high)})"
    interval = {
        "kind": "bar",
        "x": low,
        "x2": high,
        "y": height - WHISKER_HALF_HEIGHT_SHARE,
        "y2": height + WHISKER_HALF_HEIGHT_SHARE,
        "fill": end.colour,
        "said": said,
    }
    point = {
        "kind": "point",
        "x": end.value,
        "y": height,
        "name": f"{name} {end.name}",
        "fill": end.colour,
        "said": said,
        "size": DUMBBELL_POINT_AREA_PX,
    }
    return [interval, point]
