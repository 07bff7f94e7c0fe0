"""What page.css does with pictures and hints on a phone, shown on a page that has nothing else."""

import pytest

from pages.components.modules import COMPONENTS_FOLDER
from pages.panels.chart import PHONE_WIDTH_PX, SMALLEST_SCALE

PHONE = {"viewport": {"width": PHONE_WIDTH_PX, "height": 800}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 800}}
CHART = '<div class="st-key-{key}"><div data-testid="stVegaLiteChart"><svg {size} viewBox="{box}"></svg></div></div>'
MEASURES = "() => [...document.querySelectorAll('svg')].map((svg) => Math.round(svg.getBoundingClientRect().width))"
SEEN = """() => [...document.querySelectorAll("p")].filter((each) => each.checkVisibility()).map((each) => each.id)"""


def draw_chart(key: str, width: int) -> str:
    """A picture in its box, as show_chart draws it."""
    return CHART.format(key=key, size=f'width="{width}" height="100"', box=f"0 0 {width} 100")


@pytest.fixture
def styled(chromium):
    """A function that opens a page of the app's style with this content, on a device."""
    contexts = []

    def open_page(content: str, device: dict):
        contexts.append(chromium.new_context(**device))
        page = contexts[-1].new_page()
        style = (COMPONENTS_FOLDER / "page.css").read_text(encoding="utf-8")
        meta = '<meta name="viewport" content="width=device-width">'
        page.set_content(f"<!doctype html>{meta}<style>body {{ margin: 0 }} {style}</style>{content}")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("device", "widths"), [(PHONE, [PHONE_WIDTH_PX, 800 * SMALLEST_SCALE]), (DESK, [520, 800])])
def test_a_chart_is_smaller_on_a_phone_until_its_letters_would_be_illegible(styled, device, widths):
    content = draw_chart("shrinks_near", 520) + draw_chart("slides_far", 800)
    assert styled(content, device).evaluate(MEASURES) == widths


@pytest.mark.parametrize(
    ("device", "seen"), [(PHONE, ["narrow", "touch", "both"]), (DESK, ["wide", "keys", "both"])], ids=["phone", "desk"]
)
def test_a_device_shows_its_picture_and_its_hint(styled, device, seen):
    kinds = {
        "wide": "st-key-wide_a",
        "narrow": "st-key-narrow_a",
        "keys": "st-key-how_keys_a",
        "touch": "st-key-how_touch_a",
        "both": "",
    }
    content = "".join(f'<div class="{kind}"><p id="{name}">{name}</p></div>' for name, kind in kinds.items())
    assert styled(content, device).evaluate(SEEN) == seen
