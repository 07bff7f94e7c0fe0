"""Arrows in a plane, each with the arc on which it came there: a pair of numbers before it was turned, and after."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.drawing.charts import Picture, plane_specification
from attention_core.drawing.palette import Palette
from attention_core.record.number_text import format_exact

PLANE_SIDE_PX = 246  # pixels
ARC_STEP_RADIANS = 2.0 * math.pi / 90  # radians from one point of an arc to the next
MAX_DRAWN_TURNS = 3  # of an arc that are drawn
ARROW_COLUMNS = {
    "kind": "arrow",  # arrow, arc or axis
    "x": 0.0,
    "y": 0.0,
    "x2": 0.0,
    "y2": 0.0,
    "order": 0,
    "angle": 0.0,  # degrees clockwise from upright, as Vega-Lite turns a mark
    "name": "",
    "fill": "",
    "said": "",
    "faint": False,
}


@dataclass(frozen=True)
class Arrow:
    """From the middle to (x, y). turned: the angle by which it came there, radians, whose arc is drawn; faint: where it
    was before."""

    name: str
    x: float
    y: float
    colour: str
    turned: float = 0.0
    faint: bool = False


def arrow_plane(arrows: Sequence[Arrow], palette: Palette, side: int = PLANE_SIDE_PX) -> Picture:
    """The arrows, all to one scale, the longest almost as long as there is room; one of length 0 is not drawn.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> picture = arrow_plane([Arrow("q", 0.0, 2.0, LIGHT_PALETTE.q)], LIGHT_PALETTE)
    >>> picture.table["said"][-1], picture.table["angle"][-1]
    ('q: (0, 2)', 0.0)
    """
    reach = 1.15 * max([math.hypot(arrow.x, arrow.y) for arrow in arrows if math.isfinite(arrow.x + arrow.y)] or [0.0])
    reach = reach or 1.0
    rows = [
        {"kind": "axis", "x": -reach, "x2": reach, "fill": palette.faint},
        {"kind": "axis", "y": -reach, "y2": reach, "fill": palette.faint},
    ]
    for number, arrow in enumerate(arrows):
        rows += [
            {"kind": "arc", "x": x, "y": y, "order": at, "name": f"{number}", "fill": arrow.colour}
            for at, (x, y) in enumerate(arc_points(arrow))
        ]
    for arrow in arrows:
        if arrow.x == arrow.y == 0:
            continue  # it points nowhere
        rows.append(
            {
                "x2": arrow.x,
                "y2": arrow.y,
                "angle": 90 - math.degrees(math.atan2(arrow.y, arrow.x)),
                "name": arrow.name,
                "fill": arrow.colour,
                "said": f"{arrow.name}: ({format_exact(arrow.x)}, {format_exact(arrow.y)})",
                "faint": arrow.faint,
            }
        )
    table = {column: [row.get(column, usual) for row in rows] for column, usual in ARROW_COLUMNS.items()}
    return Picture(table, plane_specification(reach, side))


def arc_points(arrow: Arrow) -> list[tuple[float, float]]:
    """The points of the way on which an arrow came, outwards a little with each turn, so that turns are told apart."""
    length, end = math.hypot(arrow.x, arrow.y), math.atan2(arrow.y, arrow.x)
    turned = math.copysign(min(abs(arrow.turned), 2 * math.pi * MAX_DRAWN_TURNS), arrow.turned)
    steps = math.ceil(abs(turned) / ARC_STEP_RADIANS)
    if not steps or length == 0:
        return []
    ways = [turned * (step / steps - 1) for step in range(steps + 1)]  # from where it began to 0, where it stands
    shrunk = [0.5 * length * (1 + 0.06 * way / (2 * math.pi)) for way in map(abs, ways)]
    return [(r * math.cos(end + way), r * math.sin(end + way)) for r, way in zip(shrunk, ways, strict=True)]
