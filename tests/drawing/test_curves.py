"""Curves: what is drawn where, and that the specification is one that Vega-Lite takes."""

from dataclasses import replace
from io import BytesIO

import altair as alt
import pytest
from PIL import Image, ImageColor

from attention_core.documents.picture_files import png_bytes, vega_svg
from attention_core.drawing.axes import Axis, decade_axis, pixels_below_top, powers_of_ten, whole_number_axis
from attention_core.drawing.curves import (
    CURVE_NAME_STEP_PX,
    LINE_WIDTH_PX,
    MANY_POINTS,
    RIM_WIDTH_PX,
    Curve,
    curves,
    histogram_picture,
)
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.specifications import curve_specification

WIDTH = Axis("d_k", 1, 1024, log=True, values=(1, 32, 1024))
SHARE = Axis("share", 0, 1)
INFLUENCE = Axis("influence", 1e-6, 1, log=True)


def rows_of(picture, kind):
    columns = picture.table
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [row for row in rows if row["kind"] == kind]


@pytest.mark.parametrize("x, y", [(WIDTH, SHARE), (SHARE, INFLUENCE)])
def test_the_specification_is_valid_and_has_the_axes_it_was_given(x, y):
    spec = curve_specification(x, y, LIGHT_PALETTE, 640, 300)
    sample = {"values": [{"kind": "point", "x": 1, "y": 1}]}
    alt.LayerChart.from_dict(spec | {"data": sample}, validate=True)
    for layer in spec["layer"][:6]:
        assert layer["encoding"]["x"]["scale"]["domain"] == [x.first, x.last]
        assert layer["encoding"]["x"]["scale"]["type"] == ("log" if x.log else "linear")
        assert layer["encoding"]["x"]["axis"]["title"] == x.title
        assert not (layer.get("data") or spec.get("data"))
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [y.first, y.last]
    assert powers_of_ten(INFLUENCE) == (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def test_texts_stand_in_the_place_of_numbers():
    sizes = Axis("bytes", 1, 2**30, log=True, values=(1.0, 2**20), texts=("1 byte", "1 MiB"))
    drawn = curve_specification(SHARE, sizes, LIGHT_PALETTE, 640, 300)["layer"][0]["encoding"]["y"]["axis"]
    assert drawn["values"] == [1, 2**20]
    assert drawn["labelExpr"] == '({"1": "1 byte", "1048576": "1 MiB"})[datum.value]'


def test_a_point_says_its_numbers_and_a_zero_of_a_logarithmic_axis_stands_at_its_end():
    drawn = Curve("convolution", [1, 2, 3], [0.5, 0.0, 1e-9], LIGHT_PALETTE.v)
    picture = curves([drawn], SHARE, INFLUENCE, LIGHT_PALETTE)
    (zero,) = rows_of(picture, "zero")
    assert (zero["x"], zero["y"], zero["said"]) == (2, 1e-6, "convolution: 2 → 0")
    first, last = rows_of(picture, "point")
    assert (first["y"], first["said"]) == (0.5, "convolution: 1 → 0.5")
    assert (last["y"], last["said"]) == (1e-6, "convolution: 3 → 1e-09")  # drawn at the end, said as it is


def test_names_stand_at_the_ends_of_their_curves_and_apart():
    same = [
        Curve(name, [1, 1024], [0.5, height], LIGHT_PALETTE.q)
        for name, height in (("a", 0.75), ("b", 0.75), ("c", 0.1))
    ]
    texts = {row["name"]: row for row in rows_of(curves(same, WIDTH, SHARE, LIGHT_PALETTE), "text")}
    assert all(row["x"] == 1024 for row in texts.values())
    assert texts["a"]["y"] == 75  # a quarter of 300 pixels below 1
    assert texts["b"]["y"] == 75 + CURVE_NAME_STEP_PX
    assert texts["c"]["y"] == pytest.approx(270)
    assert pixels_below_top(32.0, WIDTH, 300) == pytest.approx(150)  # half of ten doublings


def test_names_that_would_lead_below_the_field_stand_at_its_end():
    level = [Curve(name, [1, 1024], [0.5, 0.0], LIGHT_PALETTE.q) for name in "abc"]
    texts = {row["name"]: row["y"] for row in rows_of(curves(level, WIDTH, SHARE, LIGHT_PALETTE, height=200), "text")}
    assert texts == {"a": 200 - 2 * CURVE_NAME_STEP_PX, "b": 200 - CURVE_NAME_STEP_PX, "c": 200}


def painted(picture):
    """How many pixels of the field a picture paints in each of some colours, its curves' names left out."""
    nameless = {**picture.table, "name": ["" if kind == "text" else name for kind, name in zip_of(picture)]}
    drawn = Image.open(BytesIO(png_bytes(vega_svg(replace(picture, table=nameless))))).convert("RGB")
    counted = {colour: count for count, colour in drawn.getcolors(drawn.width * drawn.height)}
    return {
        colour: counted.get(ImageColor.getrgb(colour), 0)
        for colour in (LIGHT_PALETTE.share, LIGHT_PALETTE.q, LIGHT_PALETTE.k, LIGHT_PALETTE.v)
    }


def zip_of(picture):
    return zip(picture.table["kind"], picture.table["name"], strict=True)


LEVEL, COLOURS = [1.0] * 4, (LIGHT_PALETTE.share, LIGHT_PALETTE.q, LIGHT_PALETTE.k)


def test_a_curve_under_another_is_seen():
    """Two networks that write everything: one line lies on the other."""
    names = ("additive", "dot", "one vector")
    over = [Curve(name, range(4), LEVEL, colour) for name, colour in zip(names, COLOURS, strict=True)]
    for count in (2, 3):
        shown = painted(curves(over[:count], Axis("length", 0, 3), SHARE, LIGHT_PALETTE, height=200))
        assert min(shown[colour] for colour in COLOURS[:count]) > 300 and shown[LIGHT_PALETTE.v] == 0


LONG = Curve("long", range(5), [0.9, 0.9, 0.9, 0.5, 0.1], LIGHT_PALETTE.q, dashed=True)
SHORT = Curve("short", [1, 2, 3], [0.9, 0.903, 0.1], LIGHT_PALETTE.k)
CROSSING = Curve("crossing", range(5), [0.1, 0.9, 0.2, 0.5, 0.8], LIGHT_PALETTE.v)
NEAR = Curve("near", range(5), [0.91, 0.91, 0.91, 0.3, 0.3], LIGHT_PALETTE.share)  # three pixels away: both are seen


def test_a_curve_is_wide_along_the_stretch_that_lies_under_another_and_nowhere_else():
    def stretches(*drawn):
        rows = rows_of(curves(drawn, Axis("", 0, 4), SHARE, LIGHT_PALETTE), "under")
        return [tuple(row[key] for key in ("name", "x", "y", "x2", "y2", "width", "dashed")) for row in rows]

    wide, wider = LINE_WIDTH_PX + 2 * RIM_WIDTH_PX, LINE_WIDTH_PX + 4 * RIM_WIDTH_PX
    assert stretches(LONG, CROSSING, NEAR) == []
    assert stretches(LONG, SHORT, CROSSING, NEAR) == [("long", 1, 0.9, 2, 0.9, wide, True)]
    assert stretches(SHORT, LONG) == [("short", 1, 0.9, 2, 0.903, wide, False)]
    again = replace(LONG, name="again")
    assert [row[:2] + row[5:6] for row in stretches(LONG, SHORT, again)] == [
        *(("long", x, wider if x == 1 else wide) for x in range(4)),
        ("short", 1, wide),
    ]


def test_points_under_others_are_larger_too():
    for count, size in ((2, 60.0), (MANY_POINTS + 1, 16.0)):
        over = [Curve(name, range(count), [0.5] * count, LIGHT_PALETTE.q) for name in "ab"]
        points = rows_of(curves(over, Axis("", 0, count), SHARE, LIGHT_PALETTE), "point")
        larger = pytest.approx((size**0.5 + 2 * RIM_WIDTH_PX) ** 2, abs=0.1)
        assert {row["name"]: row["size"] for row in points} == {"a": larger, "b": size}
    sizes = [row["size"] for row in rows_of(curves([LONG, SHORT], Axis("", 0, 4), SHARE, LIGHT_PALETTE), "point")]
    assert sizes == [60.0, 162.5, 162.5, 60.0, 60.0, *[60.0] * 3]


def test_points_of_a_long_curve_are_small():
    sizes = {
        count: {
            row["size"]
            for row in rows_of(
                curves([Curve("a", range(count), [0.5] * count, "")], WIDTH, SHARE, LIGHT_PALETTE), "point"
            )
        }
        for count in (MANY_POINTS, MANY_POINTS + 1)
    }
    assert sizes == {MANY_POINTS: {60.0}, MANY_POINTS + 1: {16.0}}


@pytest.mark.parametrize(
    "numbers, last, ends",
    [
        ([0.0, 0.03, 0.4], None, (0.01, 1.0)),
        ([0.03, 0.4], 1.0, (0.01, 1.0)),
        ([2.5, 17.0], None, (1.0, 100.0)),
        ([1.0], 1.0, (0.1, 1.0)),  # an axis is never without length
        ([0.0], None, (0.1, 1.0)),
        ([], None, (0.1, 1.0)),
    ],
)
def test_a_logarithmic_axis_from_power_to_power(numbers, last, ends):
    axis = decade_axis("share", numbers, last)
    assert (axis.first, axis.last, axis.log) == (*ends, True)
    assert axis.first in axis.values and axis.last in axis.values


def test_a_long_logarithmic_axis_has_few_numbers():
    axis = decade_axis("share", [3e-29, 1.0])
    assert (axis.first, axis.last) == (1e-29, 1.0)
    assert 8 <= len(axis.values) <= 13 and max(axis.values) == 1.0


@pytest.mark.parametrize(
    "numbers, ends, written",
    [
        (range(8), (0, 7), (0, 1, 2, 3, 4, 5, 6, 7)),
        (range(-10, 11), (-10, 10), (-10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10)),
        (range(128), (0, 127), (0, 20, 40, 60, 80, 100, 120)),
        (range(1), (0, 1), (0,)),
    ],
)
def test_an_axis_of_whole_numbers(numbers, ends, written):
    axis = whole_number_axis("distance", numbers)
    assert (axis.first, axis.last) == ends
    assert axis.values == written


def test_a_band_and_a_chosen_place():
    picture = curves(
        [Curve("variance", [1, 2], [1, 1], LIGHT_PALETTE.x, band=[(0.5, 2), (0.25, 0.75)])],
        WIDTH,
        SHARE,
        LIGHT_PALETTE,
        at=4,
    )
    assert [(row["y"], row["y2"]) for row in rows_of(picture, "band")] == [(0.5, 1), (0.25, 0.75)]
    assert [row["x"] for row in rows_of(picture, "rule")] == [4]


def test_a_histogram_has_a_bar_between_each_two_edges():
    bars = rows_of(
        histogram_picture(
            [0, 1, 3], [[0.25, 0.5], [0, 1]], [LIGHT_PALETTE.q, LIGHT_PALETTE.k], SHARE, SHARE, LIGHT_PALETTE
        ),
        "bar",
    )
    assert [(bar["x"], bar["x2"], bar["y"], bar["fill"]) for bar in bars] == [
        (0, 1, 0.25, LIGHT_PALETTE.q),
        (1, 3, 0.5, LIGHT_PALETTE.q),
        (0, 1, 0, LIGHT_PALETTE.k),
        (1, 3, 1, LIGHT_PALETTE.k),
    ]


def test_points_and_places_must_be_as_many():
    with pytest.raises(ValueError):
        curves([Curve("a", [1, 2], [1], LIGHT_PALETTE.q)], WIDTH, SHARE, LIGHT_PALETTE)
