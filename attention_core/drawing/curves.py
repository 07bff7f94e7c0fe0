"""Curves: one quantity against another on two axes, named at their ends, with bands, and points with tooltips.

A logarithmic axis has no 0: a zero is an open triangle at the end of the axis, whose tooltip shows 0. A stretch of a
curve that lies under another curve is drawn wider, so that it is visible on both sides of the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attention_core.drawing.axes import Axis, clamp_to_axis, pixels_below_top
from attention_core.drawing.cells import fill_columns
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture, curve_specification
from attention_core.drawing.text_layout import text_width
from attention_core.record.number_text import format_exact, format_fixed

CURVE_WIDTH_PX, CURVE_HEIGHT_PX = 640, 300  # pixels of the area between the axes
AXIS_ROOM_PX = 90  # pixels at the left of that area
CURVE_NAME_PX, CURVE_NAME_STEP_PX = 14.0, 17.0  # pixels: the size of a curve's name, and the distance between two names
LINE_WIDTH_PX = 2.5
HIDING_DISTANCE_PX = 2.0  # two lines that are closer look like one
RIM_WIDTH_PX = 2.5  # pixels that are visible of a covered line, on each side of the covering one
MANY_POINTS, SMALL_POINT_AREA_PX = 48, 16.0  # with more points than this, the area of each in square pixels
CURVE_COLUMNS = {
    "kind": "point",  # kind of mark: point, zero, band, under, bar, rule or text
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


@dataclass(frozen=True)
class Curve:
    """Points from left to right under one name.

    dashed: the numbers were computed, not measured. band: the lower and upper bound of each point.
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
    """Draws curves on two axes. at: the x of a vertical line, such as the selected value.

    Raises ValueError if a curve has more x than y, or fewer.
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
    """The area between the bounds of a curve's points."""
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
    """The points of a curve. counts: how many curves cover each of its stretches."""
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
    """The name of each curve after its last point.

    A name that would overlap another one is moved down, and all of them up again if that leads below the area.
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
Line = tuple[list[float], list[float]]  # the points of a curve: their distances from the left and from the top


def count_covers(drawn: Sequence[Curve], x: Axis, y: Axis, height: int) -> list[list[int]]:
    """For each curve and each of its stretches from point to point: how many later curves lie on it.

    A later curve is drawn over an earlier one.
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
    """The points of a curve as drawn: a share of the width from the left, and pixels from the top."""
    along = []
    down = []
    for place, value in zip(curve.x, curve.y, strict=True):
        along.append(-pixels_below_top(place, x, 1))
        down.append(pixels_below_top(value, y, height))
    return along, down


def covered_stretches(over: Line, line: Line) -> np.ndarray:
    """Whether each stretch of a line is hidden by another line, at both of its ends."""
    along, down = line
    height_of_other = np.interp(along, *over, left=np.nan, right=np.nan)
    distance = np.abs(height_of_other - np.array(down))
    is_hidden = distance < HIDING_DISTANCE_PX
    starts, ends = is_hidden[:-1], is_hidden[1:]
    return starts & ends


def place_covered_stretches(curve: Curve, counts: Sequence[int], y: Axis) -> list[dict]:
    """The stretches of a curve that other curves cover, each wider than all of these together."""
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
    """How many curves cover each point of a curve: the count of the stretch before or after it, whichever is larger.

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
    """Draws histograms over each other. shares: of samples between two edges, one sequence per colour."""
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
    """The specification with margins: at the left for the axis, at the right for the longest name.

    The picture has this width if there is room; on a narrow screen the area between the axes shrinks.
    """
    return spec | {
        "width": spec["width"] + AXIS_ROOM_PX + int(longest) + 20,
        "padding": {"left": 4, "top": 10, "bottom": 4, "right": 4},
    }


def curve_table(rows: Sequence[dict]) -> dict[str, list]:
    """The table rows of a curve picture as columns: column name -> values."""
    return fill_columns(rows, CURVE_COLUMNS)
