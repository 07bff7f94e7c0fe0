"""Draws arrows in a plane: a pair of numbers before and after a rotation, and the rotation as an arc."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.drawing.cells import fill_columns
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture, plane_specification
from attention_core.record.number_text import format_exact

PLANE_SIDE_PX = 246
EDGE_BEHIND_LONGEST = 1.15  # half the plane's width, as a multiple of the longest arrow
FULL_TURN = 2.0 * math.pi  # a full turn in radians
ARC_STEP_RADIANS = FULL_TURN / 90  # angle between two neighbouring points of an arc
ARC_GROWTH_PER_TURN = 0.06  # an arc's radius grows by this share per turn away from the tip, so turns do not overlap
MAX_DRAWN_TURNS = 3  # an arc of more turns is cut to this number of turns
ARROW_COLUMNS = {
    "kind": "arrow",  # what the row draws: an arrow (default), arc or axis
    "x": 0.0,
    "y": 0.0,
    "x2": 0.0,
    "y2": 0.0,
    "order": 0,
    "angle": 0.0,  # rotation of the mark in degrees, clockwise from upright
    "name": "",
    "fill": "",
    "said": "",
    "faint": False,
}


@dataclass(frozen=True)
class Arrow:
    """An arrow from the middle of the plane to (x, y).

    turned: the angle in radians by which a rotation turned the arrow; it is drawn as an arc. faint: whether the arrow
    is pale, because it shows the pair of numbers before the rotation.
    """

    name: str
    x: float
    y: float
    colour: str
    turned: float = 0.0
    faint: bool = False

    @property
    def length(self) -> float:
        """The distance of the arrow's tip from the middle of the plane."""
        return math.hypot(self.x, self.y)


def arrow_plane(arrows: Sequence[Arrow], palette: Palette, side: int = PLANE_SIDE_PX) -> Picture:
    """Draw arrows in one plane. The longest arrow nearly fills the plane; an arrow of length 0 is not drawn.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> picture = arrow_plane([Arrow("q", 0.0, 2.0, LIGHT_PALETTE.q)], LIGHT_PALETTE)
    >>> picture.table["said"][-1], picture.table["angle"][-1]
    ('q: (0, 2)', 0.0)
    """
    finite = [arrow for arrow in arrows if math.isfinite(arrow.x + arrow.y)]
    longest = max((arrow.length for arrow in finite), default=0.0)
    reach = EDGE_BEHIND_LONGEST * longest or 1.0
    rows = [
        {"kind": "axis", "x": -reach, "x2": reach, "fill": palette.faint},
        {"kind": "axis", "y": -reach, "y2": reach, "fill": palette.faint},
    ]
    for number, arrow in enumerate(arrows):
        rows += place_arc(arrow, str(number))
    for arrow in arrows:
        if arrow.length != 0:
            rows.append(place_arrow(arrow))
    return Picture(fill_columns(rows, ARROW_COLUMNS), plane_specification(reach, side))


def place_arrow(arrow: Arrow) -> dict:
    """Return the table row that draws an arrow: its end, the angle of its tip, its colour and its description."""
    direction = math.degrees(math.atan2(arrow.y, arrow.x))
    return {
        "x2": arrow.x,
        "y2": arrow.y,
        "angle": 90 - direction,
        "name": arrow.name,
        "fill": arrow.colour,
        "said": f"{arrow.name}: ({format_exact(arrow.x)}, {format_exact(arrow.y)})",
        "faint": arrow.faint,
    }


def place_arc(arrow: Arrow, name: str) -> list[dict]:
    """Return the table rows that draw the arc of an arrow's rotation.

    name: unique in the picture, because points of one name are joined by a line.
    """
    rows = []
    for order, (x, y) in enumerate(arc_points(arrow)):
        rows.append(
            {
                "kind": "arc",
                "x": x,
                "y": y,
                "order": order,
                "name": name,
                "fill": arrow.colour,
            }
        )
    return rows


def arc_points(arrow: Arrow) -> list[tuple[float, float]]:
    """Return the points of an arrow's arc, from the angle before its rotation to its own angle; [] without a rotation.

    The arc's radius shrinks a little with each turn towards the arrow, so that the turns do not overlap.
    """
    end = math.atan2(arrow.y, arrow.x)
    drawn_angle = min(abs(arrow.turned), MAX_DRAWN_TURNS * FULL_TURN)
    turned = math.copysign(drawn_angle, arrow.turned)
    steps = math.ceil(drawn_angle / ARC_STEP_RADIANS)
    if not steps or arrow.length == 0:
        return []
    points = []
    for step in range(steps + 1):
        rest = turned * (step / steps - 1)  # the angle from this point of the arc to the arrow
        growth = 1 + ARC_GROWTH_PER_TURN * abs(rest) / FULL_TURN
        radius = 0.5 * arrow.length * growth
        angle = end + rest
        x = radius * math.cos(angle)
        y = radius * math.sin(angle)
        points.append((x, y))
    return points
