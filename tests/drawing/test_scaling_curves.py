"""Counted multiply-adds and measured times on one pair of axes."""

import pytest

from attention_core.drawing.palette import LIGHT
from attention_core.drawing.scaling_curves import Line, growth, slope


def points(picture, dashed):
    """The points of the counted curves, or of the measured ones: name -> [(x, y)]."""
    columns, found = picture.table, {}
    for row in (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)):
        if row["kind"] == "point" and row["dashed"] == dashed:
            found.setdefault(row["name"], []).append((row["x"], pytest.approx(row["y"])))
    return found


def test_a_million_multiply_adds_stand_as_high_as_a_millisecond():
    lines = [
        Line("counted", LIGHT.q, counted={64: 2_000_000, 128: 8_000_000}),
        Line("measured", LIGHT.k, seconds={64: 0.002}),
        Line("nothing yet", LIGHT.v),
    ]
    picture = growth(lines, (64, 128), ("tokens", "cost"), LIGHT)
    assert points(picture, dashed=True) == {"counted": [(64, 2.0), (128, 8.0)]}
    assert points(picture, dashed=False) == {"measured": [(64, 2.0)]}
    axes = picture.spec["layer"][0]["encoding"]
    assert axes["x"]["scale"]["domain"] == [64, 128]
    assert axes["y"]["scale"]["domain"] == [1.0, 10.0]
    assert (axes["x"]["axis"]["title"], axes["y"]["axis"]["title"]) == ("tokens", "cost")


def test_the_power_with_which_a_cost_grows():
    assert slope({64: 5, 128: 20, 256: 80}) == pytest.approx(2)
    assert slope({64: 5, 128: 10}) == pytest.approx(1)
    assert slope({64: 5}) is None
    assert slope({}) is None
