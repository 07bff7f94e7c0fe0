"""What is said, written and shown at the stops of a query's way."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

AT = "(root, progress) => root.flow.journey.scrub(progress)"
COLOURED = """math => [...math.querySelectorAll("[class]")].map(
    element => [element.textContent, getComputedStyle(element).color])"""


def to_rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[place : place + 2], 16) for place in (1, 3, 5)))


@pytest.mark.parametrize(
    ("progress", "formula", "families"),
    [
        (1, "Q=split2(XWq)K=split2(XWk)", "qxqkxk"),
        (2, "scores=QK⊤", "xqk"),
        (5, "weights=softmaxS(scaled)", ["share", "x"]),
        (5.99, "V=split2(XWv)heads=weightsV", ["v", "x", "v", "v", "share", "v"]),
    ],
)
def test_a_stop_ends_with_its_formula_in_the_colours_of_the_picture(screen, progress, formula, families):
    opened = screen("?ex=en_it&lang=en")
    flow = opened.page.locator(".flow")
    flow.evaluate(AT, progress)
    written = flow.locator(".formulas")
    expect(written).to_be_visible()
    assert "".join(written.locator("math").all_text_contents()) == formula
    palette = flow.evaluate("root => root.flow.data.palette")
    colours = [colour for math in written.locator("math").all() for _, colour in math.evaluate(COLOURED)]
    assert colours == [to_rgb(palette[family]) for family in families]
    flow.evaluate(AT, int(progress - 0.01) + 0.3)  # the formula comes last
    expect(written).to_be_hidden()
