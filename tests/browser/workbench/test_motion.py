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
    assert abs(looked[1] - strip[1]) < 1 and looked[0] > strip[0]  # of head 1: along the row of the strip it comes from
    flow.evaluate(AT, 0.8)
    assert distance(flow.evaluate(PLACES, "flying")[3], other) > 2 * distance(last, other)
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
        opened.page.locator(".flow .rail").evaluate("rail => { rail.style.maxHeight = '60px' }")
        opened.page.locator(".flow .rail button").first.evaluate("first => { first.style.minWidth = '100%' }")
    flow = opened.page.locator(".flow")
    flow.evaluate(AT, 0.36)
    picture = flow.locator("svg").first.bounding_box()
    _, y = flow.evaluate(PLACES, "flying")[3]
    assert 0 <= y - picture["y"] < 30
    assert opened.drawn("carriers arriving 1").text_content().startswith("head 2")


OPENED = """(root, opened) => {
    const { flow } = root;
    flow.moveToView = () => { flow.opened = opened };
    flow.look = { ...flow.look, view: "map" };
    flow.ask();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
BOXES = """(root, keys) => keys.map((key) => {
    const { picture, map } = root.flow;
    const shape = picture.shapes.made.get(key) ?? map.shapes.made.get(key);
    if (!shape?.isShown) return null;
    const { x, y, width, height } = shape.element.getBoundingClientRect();
    return [x, y, width, height];
})"""
STRONG = """(root, key) => {
    const element = root.flow.map.shapes.made.get(key)?.element;
    if (!element?.checkVisibility()) return 0;
    return element.parentNode.getAttribute("opacity") * element.getAttribute("opacity");
}"""


def test_the_shares_of_the_query_fly_into_their_row_of_the_map_and_the_other_rows_come_up_after(screen):
    opened = screen("?ex=en_it&lang=en")  # "it", word 5, gives dog, word 3, 93 %
    flow = opened.page.locator(".flow")
    row = [f"cells result 5 {key}" for key in range(7)]
    sticks = flow.evaluate(BOXES, [f"shares share {key}" for key in range(7)])
    flow.evaluate(OPENED, 1e-3)
    begun = flow.evaluate(BOXES, row)
    assert [each == pytest.approx(stick, abs=0.5) for each, stick in zip(begun, sticks, strict=True)] == [True] * 7
    assert float(opened.drawn("shares share 3").get_attribute("opacity")) == 0  # it has left the flow
    assert flow.evaluate(STRONG, "cells result 4 3") == 0
    flow.evaluate(OPENED, 0.5)
    half = flow.evaluate(BOXES, row)
    flow.evaluate(OPENED, 1)
    landed = flow.evaluate(BOXES, row)
    for start, between, end in zip(sticks, half, landed, strict=True):
        moved = [each for each in zip(start, between, end, strict=True) if abs(each[2] - each[0]) > 9]
        ways = [(now - old) / (new - old) for old, now, new in moved]
        assert 0.9 < min(ways) <= max(ways) < 0.999  # it lands at 0.6: after all of a curve but its gentle end
    assert len({y for _, y, *_ in landed}) == 1
    assert flow.evaluate(STRONG, "cells result 0 3") == 1
    flow.evaluate(OPENED, 0.5)
    assert flow.evaluate(BOXES, row) == half  # the way back is the same
    assert 0 < flow.evaluate(STRONG, "cells result 4 3") < 1  # the row beside it is on its way
    assert flow.evaluate(STRONG, "cells result 0 3") == 0  # the last has not begun
    flow.evaluate(OPENED, 0)
    assert flow.evaluate(BOXES, [f"shares share {key}" for key in range(7)]) == sticks
    assert float(opened.drawn("shares share 3").get_attribute("opacity")) == 1


def test_where_nothing_may_move_the_map_is_open_in_the_same_frame(screen):
    opened = screen("?ex=en_it&lang=en", reduced_motion="reduce")
    seen = "root => { root.flow.lookAt({ view: 'map' }); root.flow.drawAt(performance.now()); return root.flow.opened }"
    assert opened.page.locator(".flow").evaluate(seen) == 1
    assert opened.page.locator(".flow").evaluate(STRONG, "cells result 0 3") == 1
