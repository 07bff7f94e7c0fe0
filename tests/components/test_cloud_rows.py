"""The numbered dots of a cloud of scores: what does not fit side by side stands in rows."""

from itertools import combinations
from math import hypot

from tests.components.in_node import call_in_node

DIAMETER = 15  # px, of a numbered dot
SCORES = [7.27, -6.84, -3.32, 9.36, 2.7, -0.97, -0.9, -6.75]  # of the draw that the lesson opens on, at width 64


def test_no_numbered_dot_of_the_first_draw_covers_another():
    """On a wide screen 64 is 480 px from the middle; on a phone it is 130 px."""
    heights = call_in_node("lessons/cloud", "rowsOf", SCORES)
    assert all(9 <= height <= 75 for height in heights)  # whole within a field of 84 px
    for reach in (480, 130):
        dots = [(score / 64 * reach, height) for score, height in zip(SCORES, heights, strict=True)]
        assert all(hypot(x - x2, y - y2) >= DIAMETER for (x, y), (x2, y2) in combinations(dots, 2)), reach
