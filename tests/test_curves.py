"""Curves: what is drawn where, and that the specification is one that Vega-Lite takes."""

import altair as alt
import pytest

from attention_core.charts import Axis, curve_specification, powers_of_ten
from attention_core.curves import LINE, MANY, Curve, curves, decades, histogram, pixel, wholes
from attention_core.palette import LIGHT

WIDTH = Axis("d_k", 1, 1024, log=True, values=(1, 32, 1024))
SHARE = Axis("share", 0, 1)
INFLUENCE = Axis("influence", 1e-6, 1, log=True)


def rows_of(picture, kind):
    columns = picture.table
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [row for row in rows if row["kind"] == kind]


@pytest.mark.parametrize("x, y", [(WIDTH, SHARE), (SHARE, INFLUENCE)])
def test_the_specification_is_valid_and_has_the_axes_it_was_given(x, y):
    spec = curve_specification(x, y, LIGHT, 640, 300)
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
    drawn = curve_specification(SHARE, sizes, LIGHT, 640, 300)["layer"][0]["encoding"]["y"]["axis"]
    assert drawn["values"] == [1, 2**20]
    assert drawn["labelExpr"] == '({"1": "1 byte", "1048576": "1 MiB"})[datum.value]'


def test_a_point_says_its_numbers_and_a_zero_of_a_logarithmic_axis_stands_at_its_end():
    drawn = Curve("convolution", [1, 2, 3], [0.5, 0.0, 1e-9], LIGHT.v)
    picture = curves([drawn], SHARE, INFLUENCE, LIGHT)
    (zero,) = rows_of(picture, "zero")
    assert (zero["x"], zero["y"], zero["said"]) == (2, 1e-6, "convolution: 2 → 0")
    first, last = rows_of(picture, "point")
    assert (first["y"], first["said"]) == (0.5, "convolution: 1 → 0.5")
    assert (last["y"], last["said"]) == (1e-6, "convolution: 3 → 1e-09")  # drawn at the end, said as it is


def test_names_stand_at_the_ends_of_their_curves_and_apart():
    same = [Curve(name, [1, 1024], [0.5, height], LIGHT.q) for name, height in (("a", 0.75), ("b", 0.75), ("c", 0.1))]
    texts = {row["name"]: row for row in rows_of(curves(same, WIDTH, SHARE, LIGHT), "text")}
    assert all(row["x"] == 1024 for row in texts.values())
    assert texts["a"]["y"] == 75  # a quarter of 300 pixels below 1
    assert texts["b"]["y"] == 75 + LINE
    assert texts["c"]["y"] == pytest.approx(270)
    assert pixel(32.0, WIDTH, 300) == pytest.approx(150)  # half of ten doublings


def test_names_that_would_lead_below_the_field_stand_at_its_end():
    level = [Curve(name, [1, 1024], [0.5, 0.0], LIGHT.q) for name in "abc"]
    texts = {row["name"]: row["y"] for row in rows_of(curves(level, WIDTH, SHARE, LIGHT, height=200), "text")}
    assert texts == {"a": 200 - 2 * LINE, "b": 200 - LINE, "c": 200}


def test_points_of_a_long_curve_are_small():
    sizes = {
        count: {
            row["size"]
            for row in rows_of(curves([Curve("a", range(count), [0.5] * count, "")], WIDTH, SHARE, LIGHT), "point")
        }
        for count in (MANY, MANY + 1)
    }
    assert sizes == {MANY: {60.0}, MANY + 1: {16.0}}


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
    axis = decades("share", numbers, last)
    assert (axis.first, axis.last, axis.log) == (*ends, True)
    assert axis.first in axis.values and axis.last in axis.values


def test_a_long_logarithmic_axis_has_few_numbers():
    axis = decades("share", [3e-29, 1.0])
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
    axis = wholes("distance", numbers)
    assert (axis.first, axis.last) == ends
    assert axis.values == written


def test_a_band_and_a_chosen_place():
    picture = curves(
        [Curve("variance", [1, 2], [1, 1], LIGHT.x, band=[(0.5, 2), (0.25, 0.75)])], WIDTH, SHARE, LIGHT, at=4
    )
    assert [(row["y"], row["y2"]) for row in rows_of(picture, "band")] == [(0.5, 1), (0.25, 0.75)]
    assert [row["x"] for row in rows_of(picture, "rule")] == [4]


def test_a_histogram_has_a_bar_between_each_two_edges():
    bars = rows_of(histogram([0, 1, 3], [[0.25, 0.5], [0, 1]], [LIGHT.q, LIGHT.k], SHARE, SHARE, LIGHT), "bar")
    assert [(bar["x"], bar["x2"], bar["y"], bar["fill"]) for bar in bars] == [
        (0, 1, 0.25, LIGHT.q),
        (1, 3, 0.5, LIGHT.q),
        (0, 1, 0, LIGHT.k),
        (1, 3, 1, LIGHT.k),
    ]


def test_points_and_places_must_be_as_many():
    with pytest.raises(ValueError):
        curves([Curve("a", [1, 2], [1], LIGHT.q)], WIDTH, SHARE, LIGHT)
