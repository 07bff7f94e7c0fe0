"""How the colours of the screen are written into the files of its pictures."""

import pytest

from tests.components.in_node import call_in_node


@pytest.mark.parametrize(
    ("computed", "colour", "opacity"),
    [
        ("rgb(0, 103, 165)", "#0067a5", 1),
        ("rgba(0, 103, 165, 0.5)", "#0067a5", 0.5),
        ("rgba(0, 0, 0, 0)", "none", 1),
        ("color(srgb 0.2 0.4 1)", "#3366ff", 1),
        ("color(srgb 1 0 1e-7 / 0.25)", "#ff0000", 0.25),
        ("none", "none", 1),
        ('url("#gradient-1")', "url(#gradient-1)", 1),
    ],
)
def test_a_computed_colour_is_written_as_digits_that_every_program_reads(computed, colour, opacity):
    assert call_in_node("copies", "plainColour", computed) == {"colour": colour, "opacity": opacity}
