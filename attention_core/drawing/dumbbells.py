"""Dumbbells: two numbers a row on one axis, with their intervals, and a bar from the one to the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.drawing.charts import Axis, Picture, curve_specification
from attention_core.drawing.curves import curve_table, with_margins
from attention_core.drawing.palette import Palette
from attention_core.record.number_text import format_exact

DUMBBELL_WIDTH_PX, DUMBBELL_ROW_PX = 620, 62  # pixels: the field, and a row of it
BAR_HALF_HEIGHT_SHARE, WHISKER_HALF_HEIGHT_SHARE = (
    0.02,
    0.09,
)  # of a row: half as high as the bar between both, and as an interval
DUMBBELL_POINT_AREA_PX = 190.0  # square pixels: a point


@dataclass(frozen=True)
class DumbbellEnd:
    """One end of a dumbbell. name: of what it is a number. interval: where it lies."""

    name: str
    value: float
    interval: tuple[float, float]
    colour: str


def dumbbells(
    rows: Sequence[tuple[str, Sequence[DumbbellEnd]]],
    x: Axis,
    palette: Palette,
    hidden: bool = False,
    width: int = DUMBBELL_WIDTH_PX,
) -> Picture:
    """The rows from above, each with its name and its ends. hidden: nothing is drawn yet but the rows' names.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> ends = [DumbbellEnd("a", 0.2, (0.1, 0.3), "#000"), DumbbellEnd("b", 0.7, (0.6, 0.8), "#111")]
    >>> picture = dumbbells([("first", ends)], Axis("shift", 0.0, 1.0), LIGHT_PALETTE)
    >>> [round(at, 2) for kind, at in zip(picture.table["kind"], picture.table["x"]) if kind == "point"]
    [0.2, 0.7]
    """
    drawn: list[dict] = []
    for number, (row, ends) in enumerate(rows):
        middle = len(rows) - number
        drawn += [] if hidden else place_dumbbell(row, ends, middle, palette)
    places = tuple(float(len(rows) - number) for number in range(len(rows)))
    y = Axis("", 0.5, len(rows) + 0.5, values=places, texts=tuple(row for row, _ in rows))
    return Picture(
        curve_table(drawn), with_margins(curve_specification(x, y, palette, width, DUMBBELL_ROW_PX * len(rows)), 40)
    )


def place_dumbbell(row: str, ends: Sequence[DumbbellEnd], middle: float, palette: Palette) -> list[dict]:
    """What is drawn of one row."""
    values = [end.value for end in ends]
    told = f"{row}: {format_exact(min(values))} … {format_exact(max(values))}"
    between = {
        "kind": "bar",
        "x": min(values),
        "x2": max(values),
        "y": middle - BAR_HALF_HEIGHT_SHARE,
        "y2": middle + BAR_HALF_HEIGHT_SHARE,
    }
    drawn = [between | {"fill": palette.faint, "said": told}]
    for end in ends:
        low, high = end.interval
        said = f"{row}, {end.name}: {format_exact(end.value)} ({format_exact(low)} … {format_exact(high)})"
        whisker = {
            "kind": "bar",
            "x": low,
            "x2": high,
            "y": middle - WHISKER_HALF_HEIGHT_SHARE,
            "y2": middle + WHISKER_HALF_HEIGHT_SHARE,
        }
        drawn.append(whisker | {"fill": end.colour, "said": said})
        point = {"kind": "point", "x": end.value, "y": middle, "name": f"{row} {end.name}", "fill": end.colour}
        drawn.append(point | {"said": said, "size": DUMBBELL_POINT_AREA_PX})
    return drawn
