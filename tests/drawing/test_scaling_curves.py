"""Counted multiply-adds and measured times on one pair of axes."""

import pytest

from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.scaling_curves import GrowthLine, growth_curves, growth_power


def points(picture, dashed):
    """The points of the counted curves, or of the measured ones: name -> [(x, y)]."""
    columns, found = picture.table, {}
    for row in (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)):
        if row["kind"] == "point" and row["dashed"] == dashed:
            found.setdefault(row["name"], []).append((row["x"], pytest.approx(row["y"])))
    return found


def test_a_million_multiply_adds_stand_as_high_as_a_millisecond():
    lines = [
        GrowthLine("counted", LIGHT_PALETTE.q, counted={64: 2_000_000, 128: 8_000_000}),
        GrowthLine("measured", LIGHT_PALETTE.k, seconds={64: 0.002}),
        GrowthLine("nothing yet", LIGHT_PALETTE.v),
    ]
    picture = growth_curves(lines, (64, 128), ("tokens", "cost"), LIGHT_PALETTE)
    assert points(picture, dashed=True) == {"counted": [(64, 2.0), (128, 8.0)]}
    assert points(picture, dashed=False) == {"measured": [(64, 2.0)]}
    axes = picture.spec["layer"][0]["encoding"]
    assert axes["x"]["scale"]["domain"] == [64, 128]
    assert axes["y"]["scale"]["domain"] == [1.0, 10.0]
    assert (axes["x"]["axis"]["title"], axes["y"]["axis"]["title"]) == ("tokens", "cost")


def test_the_power_with_which_a_cost_grows():
    assert growth_power({64: 5, 128: 20, 256: 80}) == pytest.approx(2)
    assert growth_power({64: 5, 128: 10}) == pytest.approx(1)
    assert growth_power({64: 5}) is None
    assert growth_power({}) is None
