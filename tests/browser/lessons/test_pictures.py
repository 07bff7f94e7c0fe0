"""The pictures of the lessons in a real browser: what a lesson is about is the largest thing on its screen."""

import pytest

pytestmark = pytest.mark.slow

LEAST_SHARE = 0.6  # of the width of the content, at 1280
PICTURES = {  # a lesson and its opening state -> what its picture is drawn of
    "bottleneck": ".neck .panel svg",
    "distance": ".beads svg",
    "masks": ".threads svg",
    "positions": ".threads svg",
    "cross": ".threads path",
    "cost": ".areas rect",
    "cost?length=128": ".areas rect",
    "induction": ".arcs svg",
    "explanation": '[data-testid=stVegaLiteChart] svg:has-text("75 %")',
    "explanation?guess=0": '[data-testid=stVegaLiteChart] svg:has-text("75 %")',
    "decoder": ".decoder .picture svg",
}
SHARE = """drawn => {
    const boxes = drawn.map(each => each.getBoundingClientRect()).filter(({ width }) => width)
    const content = document.querySelector("[data-testid=stMainBlockContainer] > [data-testid=stVerticalBlock]")
    const wide = Math.max(...boxes.map(({ right }) => right)) - Math.min(...boxes.map(({ left }) => left))
    return wide / content.clientWidth
}"""


@pytest.mark.parametrize("opening", PICTURES)
def test_the_picture_of_a_lesson_is_as_wide_as_three_fifths_of_its_content(screen, opening):
    slug, _, query = opening.partition("?")
    opened = screen(f"?{query}&lang=en", lesson=slug)
    drawn = opened.page.locator(PICTURES[opening])
    drawn.first.wait_for(state="attached")
    assert LEAST_SHARE <= drawn.evaluate_all(SHARE) <= 1


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
