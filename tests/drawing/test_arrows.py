"""Arrows in a plane: where they point, where their arcs begin and end, and that Vega-Lite takes the specification."""

import math

import altair as alt
import pytest

from attention_core.drawing.arrows import MAX_DRAWN_TURNS, Arrow, arc_points, arrow_plane
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.specifications import plane_specification


def rows_of(picture, kind):
    columns = picture.table
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [row for row in rows if row["kind"] == kind]


def test_the_specification_is_valid_and_square():
    spec = plane_specification(3.0, 200)
    sample = {"values": [{"kind": "arrow", "x": 0, "y": 0, "x2": 1, "y2": 1}]}
    alt.LayerChart.from_dict(spec | {"data": sample}, validate=True)
    assert spec["width"] == spec["height"] == 200
    for layer in spec["layer"]:
        for axis in ("x", "y"):
            assert layer["encoding"][axis]["scale"]["domain"] == [-3.0, 3.0]


def test_arrows_end_where_they_point_and_their_tips_are_turned_there():
    picture = arrow_plane(
        [Arrow("q", 3.0, -4.0, LIGHT_PALETTE.q), Arrow("k", -1.0, 0.0, LIGHT_PALETTE.k, faint=True)], LIGHT_PALETTE
    )
    q, k = rows_of(picture, "arrow")
    assert (q["x"], q["y"], q["x2"], q["y2"], q["said"]) == (0, 0, 3, -4, "q: (3, −4)")
    assert q["angle"] == pytest.approx(
        90 + math.degrees(math.atan2(4, 3))
    )  # clockwise from upright, to the lower right
    assert (k["angle"], k["faint"]) == (-90, True)
    reach = picture.spec["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    assert 5 < reach < 6  # as long as the longest, and a little more


def test_an_arc_begins_where_the_arrow_was():
    """Turned by a quarter from the right to upright."""
    points = arc_points(Arrow("q", 0.0, 2.0, LIGHT_PALETTE.q, turned=math.pi / 2))
    assert math.atan2(points[0][1], points[0][0]) == pytest.approx(0.0, abs=1e-12)
    assert math.atan2(points[-1][1], points[-1][0]) == pytest.approx(math.pi / 2)
    assert points[-1] == pytest.approx((0.0, 1.0))
    assert arc_points(Arrow("q", 0.0, 2.0, LIGHT_PALETTE.q)) == []
    assert len(arc_points(Arrow("q", 1.0, 0.0, LIGHT_PALETTE.q, turned=1e6))) <= MAX_DRAWN_TURNS * 180 + 1


def test_what_has_no_length_points_nowhere():
    picture = arrow_plane([Arrow("q", 0.0, 0.0, LIGHT_PALETTE.q, turned=1.0)], LIGHT_PALETTE)
    assert rows_of(picture, "arrow") == rows_of(picture, "arc") == []
    assert len(rows_of(picture, "axis")) == 2
