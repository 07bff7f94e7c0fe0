"""The pictures of the lessons, and of the pages to practise on, in a real browser: how wide they are. Each page as it
opens is measured where its toolbar is, in app/test_toolbar.py."""

import pytest

from pages.site.catalog import PAGES

pytestmark = pytest.mark.slow

LEAST_SHARE = 0.6  # of the width of the content, at 1280
CHART = "[data-testid=stVegaLiteChart] svg"
PICTURES = {  # a page -> what its picture is drawn of
    "start": ".flow .stage svg",
    "bottleneck": ".neck .panel svg",
    "distance": ".beads svg",
    "tokens": ".tokens .token",
    "qkv": ".product .tabs, .product .grid",
    "softmax": ".columns .cell",
    "scale": ".cloud svg",
    "scores": ".match svg, .match .dials",
    "masks": ".threads svg",
    "heads": ".wall svg",
    "positions": ".threads svg",
    "cross": ".threads path",
    "decoding": ".shelves .grid",
    "cost": ".areas rect",
    "induction": ".arcs svg",
    "explanation": CHART,
    "meaning": ".frames svg",
    "encoder": ".block .parts",
    "decoder": ".decoder .picture svg",
    "models": ".frames svg",
    "printed": ".paper",
    "history": ".timeline .large svg *",
    "check": CHART,
    "puzzles": f"table, {CHART}",  # the numbers that are dragged, and what they do
    "bugs": f".lines, {CHART}",  # the code, and what it gives
}
LISTS = ("glossary", "choice")  # read row by row: a sign with a small picture, a task with its numbers
HEROES = [page.slug for page in PAGES if page.section in {"learn", "practise"} and page.slug not in LISTS]
STATES = ["cost?length=128", "explanation?guess=0", *(f"puzzles?puzzle={name}" for name in ("same", "cancel"))]
SHARE = """drawn => {
    const boxes = drawn.map(each => each.getBoundingClientRect()).filter(({ width, top }) => width && top < innerHeight)
    let covered = 0, end = -Infinity
    for (const { left, right } of boxes.sort((one, other) => one.left - other.left)) {
        const begin = left - end <= 32 ? end : left // a gap joins two parts; other text between them is no picture
        covered += Math.max(0, right - Math.max(begin, end))
        end = Math.max(end, right)
    }
    const content = document.querySelector("[data-testid=stMainBlockContainer] > [data-testid=stVerticalBlock]")
    return covered / content.clientWidth
}"""


def width_of_picture(opened, slug: str) -> float:
    """The width of a page's picture, as a share of its content's."""
    drawn = opened.page.locator(PICTURES[slug])
    drawn.first.wait_for(state="attached")
    return drawn.evaluate_all(SHARE)


@pytest.mark.parametrize("opening", STATES)
def test_the_picture_of_a_state_is_as_wide_as_three_fifths_of_its_content(screen, opening):
    slug, _, query = opening.partition("?")
    assert LEAST_SHARE <= width_of_picture(screen(f"?{query}&lang=en", lesson=slug), slug) <= 1


def test_on_a_phone_the_decoder_has_no_room_for_wide_threads_and_its_words_stay_as_large(screen):
    opened = screen("?lang=en", lesson="decoder", viewport={"width": 390, "height": 844})
    words = opened.page.locator(".decoder svg .word")
    words.first.wait_for()
    assert words.first.bounding_box()["height"] >= 15
    opened.page.set_viewport_size({"width": 1280, "height": 720})  # as a phone that is turned
    opened.page.wait_for_function(
        "words => words.ownerSVGElement?.viewBox.baseVal.width !== 430", arg=words.first.element_handle()
    )
    assert opened.page.locator(".decoder .picture svg").bounding_box()["width"] >= 672
