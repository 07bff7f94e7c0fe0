"""Counted multiply-adds, and measured times, each on axes of its own."""

import pytest

from attention_core.drawing.curves import COUNTED, MEASURED, GrowthLine, growth_curves, growth_power
from attention_core.drawing.palette import LIGHT_PALETTE


def points(picture, dashed):
    """The points of the curves that are dashed, or of those that are not: name -> [(x, y)]."""
    columns, found = picture.table, {}
    for row in (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)):
        if row["kind"] == "point" and row["dashed"] == dashed:
            found.setdefault(row["name"], []).append((row["x"], pytest.approx(row["y"])))
    return found


@pytest.mark.parametrize(
    "kind, first, second, is_dashed", [(COUNTED, 2_000_000, 8_000_000, True), (MEASURED, 0.002, 0.008, False)]
)
def test_counts_are_drawn_in_millions_and_times_in_milliseconds(kind, first, second, is_dashed):
    lines = [
        GrowthLine("line", LIGHT_PALETTE.q, {64: first, 128: second}),
        GrowthLine("nothing yet", LIGHT_PALETTE.v, {}),
    ]
    picture = growth_curves(kind, lines, (64, 128), ("tokens", "cost"), LIGHT_PALETTE)
    assert points(picture, dashed=is_dashed) == {"line": [(64, 2.0), (128, 8.0)]}
    assert points(picture, dashed=not is_dashed) == {} and "rule" not in picture.table["kind"]
    axes = picture.spec["layer"][0]["encoding"]
    assert axes["x"]["scale"]["domain"] == [64, 128]
    assert axes["y"]["scale"]["domain"] == [1.0, 10.0]
    assert (axes["x"]["axis"]["title"], axes["y"]["axis"]["title"]) == ("tokens", "cost")


def test_the_power_with_which_a_cost_grows():
    assert growth_power({64: 5, 128: 20, 256: 80}) == pytest.approx(2)
    assert growth_power({64: 5, 128: 10}) == pytest.approx(1)
    assert growth_power({64: 5}) is None
    assert growth_power({}) is None
