"""Dumbbells: two numbers a row on one axis, with their intervals, and a bar from the one to the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.drawing.charts import Axis, Picture, curve_specification
from attention_core.drawing.curves import framed, table
from attention_core.drawing.palette import Palette
from attention_core.record.number_text import exact

WIDTH, ROW = 620, 62  # pixels: the field, and a row of it
BAR, WHISKER = 0.02, 0.09  # of a row: half as high as the bar between both, and as an interval
BIG = 190.0  # square pixels: a point


@dataclass(frozen=True)
class End:
    """One end of a dumbbell. name: of what it is a number. interval: where it lies."""

    name: str
    value: float
    interval: tuple[float, float]
    colour: str


def dumbbells(
    rows: Sequence[tuple[str, Sequence[End]]], x: Axis, palette: Palette, hidden: bool = False, width: int = WIDTH
) -> Picture:
    """The rows from above, each with its name and its ends. hidden: nothing is drawn yet but the rows' names.

    >>> from attention_core.drawing.palette import LIGHT
    >>> ends = [End("a", 0.2, (0.1, 0.3), "#000"), End("b", 0.7, (0.6, 0.8), "#111")]
    >>> picture = dumbbells([("first", ends)], Axis("shift", 0.0, 1.0), LIGHT)
    >>> [round(at, 2) for kind, at in zip(picture.table["kind"], picture.table["x"]) if kind == "point"]
    [0.2, 0.7]
    """
    drawn: list[dict] = []
    for number, (row, ends) in enumerate(rows):
        middle = len(rows) - number
        drawn += [] if hidden else dumbbell(row, ends, middle, palette)
    places = tuple(float(len(rows) - number) for number in range(len(rows)))
    y = Axis("", 0.5, len(rows) + 0.5, values=places, texts=tuple(row for row, _ in rows))
    return Picture(table(drawn), framed(curve_specification(x, y, palette, width, ROW * len(rows)), 40))


def dumbbell(row: str, ends: Sequence[End], middle: float, palette: Palette) -> list[dict]:
    """What is drawn of one row."""
    values = [end.value for end in ends]
    told = f"{row}: {exact(min(values))} … {exact(max(values))}"
    between = {"kind": "bar", "x": min(values), "x2": max(values), "y": middle - BAR, "y2": middle + BAR}
    drawn = [between | {"fill": palette.faint, "said": told}]
    for end in ends:
        low, high = end.interval
        said = f"{row}, {end.name}: {exact(end.value)} ({exact(low)} … {exact(high)})"
        whisker = {"kind": "bar", "x": low, "x2": high, "y": middle - WHISKER, "y2": middle + WHISKER}
        drawn.append(whisker | {"fill": end.colour, "said": said})
        point = {"kind": "point", "x": end.value, "y": middle, "name": f"{row} {end.name}", "fill": end.colour}
        drawn.append(point | {"said": said, "size": BIG})
    return drawn
