"""The QR code of a link: what is drawn is the code, black on white, with its quiet zone."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
import segno

from pages.workbench.sharing import MAX_QR_CHARS, QUIET_ZONE_MODULES, qr_code

LINK = "https://attention.example.edu/?ex=en_it&text=%E7%8B%97&mask=causal&lang=zh"
FINDER = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]  # ISO/IEC 18004, 6.3.3


def drawn(svg):
    """The modules that an SVG of horizontal strokes draws, as rows of 0 and 1."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(int, root.get("viewBox").split())
    ground, strokes = root.findall("{*}path")
    assert (ground.get("fill"), ground.get("d")) == ("#fff", f"M0 0h{width}v{height}h-{width}z")
    assert strokes.get("stroke") == "#000" and strokes.get("stroke-width") is None
    rows, x, y = [[0] * width for _ in range(height)], 0.0, 0.0
    for command, numbers in re.findall(r"([Mmh])([^Mmh]*)", strokes.get("d")):
        steps = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        if command == "h":
            for at in range(int(steps[0])):
                rows[int(y)][int(x) + at] = 1
            x += steps[0]
        else:
            x, y = steps if command == "M" else (x + steps[0], y + steps[1])
    return rows


@pytest.mark.parametrize("text", [LINK, "https://a.b/?" + "x" * (MAX_QR_CHARS - 13)])
def test_the_picture_is_the_code_with_its_quiet_zone(text):
    svg, side = qr_code(text)
    rows = drawn(svg)
    assert len(rows) == len(rows[0]) == side <= 141
    assert QUIET_ZONE_MODULES == 4
    assert not any(map(any, [*rows[:4], *rows[-4:]])) and not any(any(row[:4] + row[-4:]) for row in rows)
    code = [row[4:-4] for row in rows[4:-4]]
    assert code == [list(row) for row in segno.make(text, error="m", micro=False).matrix]
    assert ["".join(map(str, row[:7])) for row in code[:7]] == FINDER
    assert ["".join(map(str, row[-7:])) for row in code[:7]] == FINDER
    assert ["".join(map(str, row[:7])) for row in code[-7:]] == FINDER
    assert [code[6][at] for at in range(8, 16)] == [1, 0] * 4  # the timing pattern
    assert code[8][:2] != [1, 1]  # level L is 01; M 00, Q 11 and H 10 are better; printed xor 10
