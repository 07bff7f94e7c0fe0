"""Dumbbells: two numbers per row on one axis, with their intervals, and a bar that joins them."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import curve_table, with_margins
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture, curve_specification
from attention_core.record.number_text import format_exact

DUMBBELL_WIDTH_PX, DUMBBELL_ROW_PX = 560, 66  # pixels: the width of the area, and the height of a row
TOLD_PX = 15  # pixels from the top of a row to the middle of its sentence
BAR_BELOW_MIDDLE_SHARE = 0.16  # share of a row's height that the dumbbell is below its middle
BAR_HALF_HEIGHT_SHARE, WHISKER_HALF_HEIGHT_SHARE = 0.02, 0.09  # shares of a row's height: half a bar, half an end mark
DUMBBELL_POINT_AREA_PX = 190.0  # square pixels: the area of a point
END_NAME_ROOM_PX = 40


@dataclass(frozen=True)
class DumbbellEnd:
    """One end of a dumbbell. name: of the quantity. interval: the lower and upper bound."""

    name: str
    value: float
    interval: tuple[float, float]
    colour: str


@dataclass(frozen=True)
class DumbbellRow:
    """A row of the picture. told: the sentence above its dumbbell; "" if the row has no ends yet."""

    name: str
    told: str
    ends: Sequence[DumbbellEnd]


def dumbbells(rows: Sequence[DumbbellRow], x: Axis, palette: Palette, instead: str = "") -> Picture:
    """Draws the rows, each with its sentence and its ends. instead: a text that replaces the first
    row's ends.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> ends = [DumbbellEnd("a", 0.2, (0.1, 0.3), "#000"), DumbbellEnd("b", 0.7, (0.6, 0.8), "#111")]
    >>> picture = dumbbells([DumbbellRow("first", "a 0.2, b 0.7", ends)], Axis("shift", 0.0, 1.0), LIGHT_PALETTE)
    >>> [round(at, 2) for kind, at in zip(picture.table["kind"], picture.table["x"]) if kind == "point"]
    [0.2, 0.7]
    """
    count = len(rows)
    heights = [count - number - BAR_BELOW_MIDDLE_SHARE for number in range(count)]  # the first row is the highest
    drawn = []
    for number, (row, height) in enumerate(zip(rows, heights, strict=True)):
        drawn.append(place_sentence(row.told, DUMBBELL_ROW_PX * number + TOLD_PX, x, palette))
        if row.ends:
            drawn += place_dumbbell(row.name, row.ends, height, palette)
    if instead:
        drawn.append(place_sentence(instead, DUMBBELL_ROW_PX / 2, x, palette))
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
    """A sentence from the left edge. below: pixels from the top."""
    return {"kind": "text", "x": x.first, "y": below, "name": told, "fill": palette.ink}


def place_dumbbell(name: str, ends: Sequence[DumbbellEnd], height: float, palette: Palette) -> list[dict]:
    """The bar, the intervals and the points of one row."""
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
    """One end of a dumbbell: its interval, and its point on top of the interval."""
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
