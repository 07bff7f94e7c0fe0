"""What became what: cells on their way from one place of the picture to another, a function of how far it has come."""

import pytest

pytestmark = pytest.mark.slow

AT = """(root, share) => {
    const { journey, snapshot } = root.flow;
    journey.scrub(snapshot.stops.findIndex(({ motion }) => motion === "merge") + share);
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
# the middles of the cells of a row of drawn cells, by their column, on the page
PLACES = """(root, layer) => [0, 1, 2, 3].map((column) => {
    const shape = root.flow.picture.shapes.made.get(`${layer} concat 0 ${column}`);
    if (!shape?.isShown) return null;
    const { left, right, top, bottom } = shape.element.getBoundingClientRect();
    return [(left + right) / 2, (top + bottom) / 2];
})"""


def middle(box: dict) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def distance(one, other) -> float:
    return ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) ** 0.5


def test_the_other_heads_numbers_come_from_their_own_small_map_into_the_merge(screen):
    opened = screen("?ex=en_it&lang=en")
    flow, maps = opened.page.locator(".flow"), opened.page.locator(".flow .rail canvas")
    other, strip = middle(maps.nth(1).bounding_box()), middle(opened.drawn("cells head_outputs 0 0").bounding_box())
    flow.evaluate(AT, 0.5)
    looked, *_, last = half = flow.evaluate(PLACES, "flying")
    assert distance(last, other) < distance(looked, other) / 3  # of head 2: it has just left its map
    assert distance(looked, strip) < distance(looked, other) / 3  # of head 1: beside the strip that it comes of
    flow.evaluate(AT, 0.8)
    assert distance(flow.evaluate(PLACES, "flying")[3], other) > distance(last, other) + 100
    flow.evaluate(AT, 0.5)
    assert flow.evaluate(PLACES, "flying") == half  # back
    flow.evaluate(AT, 1)
    assert flow.evaluate(PLACES, "flying") == [None] * 4
    landed = flow.evaluate(PLACES, "cells")
    assert len({y for _, y in landed}) == 1  # side by side
    assert landed == sorted(landed)


@pytest.mark.parametrize("why", ["hidden", "scrolled away"])
def test_a_head_without_a_small_map_in_sight_comes_in_over_the_edge_of_the_picture(screen, why):
    narrow = {"viewport": {"width": 390, "height": 844}} if why == "scrolled away" else {}
    opened = screen("?ex=en_it&lang=en", **narrow)
    if why == "hidden":
        opened.page.locator(".flow").evaluate("root => { root.flow.rail.root.style.display = 'none' }")
        opened.page.wait_for_timeout(100)
    else:
        opened.page.locator(".flow .rail").evaluate("rail => { rail.scrollLeft = 0 }")
        opened.page.locator(".flow .rail button").first.evaluate("first => { first.style.minWidth = '380px' }")
    flow = opened.page.locator(".flow")
    flow.evaluate(AT, 0.36)
    picture = flow.locator("svg").first.bounding_box()
    _, y = flow.evaluate(PLACES, "flying")[3]
    assert 0 <= y - picture["y"] < 30
    assert opened.drawn("carriers arriving 1").text_content().startswith("head 2")
