"""Cells of a map of differences: their numbers are read on them, and small differences are seen, light and dark."""

import numpy as np
import pytest

from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE, blend_colours, luminance
from tests.components.in_node import call_in_node

NUMBERS = [round(number, 2) for number in np.linspace(-1, 1, 41)]
DRAWN = """(matrix, numbers, palette) => numbers.map(
    (number) => [strengthOf(matrix, number), isOnStrongColour(matrix, number, palette)])"""


def drawn(palette, numbers):
    """The luminance of the cell of each number, and that of the number in it."""
    found = call_in_node("flow/map_cells", DRAWN, {"kind": "change", "largest": 1}, numbers, vars(palette))
    cells, inks = [], []
    for number, (strength, is_ground) in zip(numbers, found, strict=True):
        colour = palette.minus if number < 0 else palette.plus
        cells.append(blend_colours(palette.ground, colour, np.array([strength])))
        ink = palette.ground if is_ground else palette.ink
        inks.append(blend_colours(ink, ink, np.array([0.0])))
    return luminance(np.concatenate(cells)), luminance(np.concatenate(inks))


def contrast(one, other):
    return (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE], ids=["light", "dark"])
def test_each_number_is_read_on_its_cell(palette):
    cells, inks = drawn(palette, NUMBERS)
    assert contrast(cells, inks).min() >= 3.8  # no two inks reach 4.5 on every colour between them


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE], ids=["light", "dark"])
def test_a_small_difference_is_seen_beside_none(palette):
    cells, _ = drawn(palette, [0.0, 0.11, 0.58])
    assert contrast(cells[1], cells[0]) >= 1.5 and contrast(cells[2], cells[1]) >= 1.5
    assert cells[0] == pytest.approx(luminance(blend_colours(palette.ground, palette.ground, np.array([0.0])))[0])


@pytest.mark.parametrize(
    ("numbers", "is_times", "largest"),
    [
        ([0.055, -0.011, None], False, 0.055),
        ([0.01, -0.3], False, 0.3),
        ([1e-9], False, 0.005),
        ([0.0, 1.7], True, 1.7),
    ],
)
def test_the_largest_difference_has_the_full_colour_unless_it_is_printed_as_zero(numbers, is_times, largest):
    ask = "(numbers, isTimes) => fullColour(numbers.map((each) => each ?? NaN), isTimes)"
    assert call_in_node("flow/model", ask, numbers, is_times) == largest
