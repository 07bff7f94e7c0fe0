"""The operands of a sum are ringed where they stand, and what is pointed at is lit in both places."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

# q(it) = (−3, 3) stands in the lane, k(dog) in row 3
RINGED = """root => [...root.querySelectorAll("rect.ring")].filter(ring => ring.checkVisibility()).map(ring => {
    const { x, y, width, height } = ring.getBBox();
    const made = [...root.flow.picture.shapes.made].find(([key, { element, isShown }]) => {
        const box = isShown && key.startsWith("cells ") ? element.getBBox() : { x: -99 };
        return Math.abs(box.x - x - 3) < 0.1 && Math.abs(box.y - y - 3) < 0.1 && Math.abs(box.width + 6 - width) < 0.1;
    });
    return [made[0], ring.classList.contains("pointed")];
}).sort()"""

VIEW = "root => root.flow.look.view"


def test_operands_are_ringed_and_what_is_pointed_at_is_lit_in_both_places(screen):
    opened = screen("?ex=en_it&lang=en")
    flow, chips = opened.page.locator(".flow"), opened.page.locator(".flow .operand")
    opened.click_drawn("hits scores 3")
    expect(chips).to_have_count(4)  # −3 · −1 + 3 · 1
    opened.page.mouse.move(2, 2)
    opened.page.wait_for_function("flow => !flow.flow.before", arg=flow.element_handle())
    places = ["cells k 3 0", "cells k 3 1", "cells q 0 0", "cells q 0 1"]
    assert flow.evaluate(RINGED) == [[place, False] for place in places]
    chips.nth(1).hover()
    expect(flow.locator("rect.ring.pointed")).to_have_count(1)
    assert flow.evaluate(RINGED)[0] == ["cells k 3 0", True]
    box = opened.drawn("cells q 0 1").bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(flow.locator(".operand.pointed")).to_have_text("3.00")
    assert opened.drawn("texts word 3").get_attribute("opacity") == "1"  # the query's numbers are of no key: none fades
    for title in ("q [head 1, it, 1]", "x [it, noun]"):  # the way back to the input stays in the view
        with opened.answered():
            chips.first.click()
        expect(flow.locator(".where strong")).to_contain_text(title)
        assert flow.evaluate(VIEW) == "flow"
    opens_q = "root => root.flow.unfold({ part: 'q', row: 0, m: 0, cell: root.flow.look.view === 'map' && "
    opens_q += "{ step: 'q_projected', index: [0, 5, 0] } })"
    for place, view in ((-1, "flow"), (0, "map")):  # W_q is not drawn in the flow; x is, but the map is looked at
        flow.evaluate("(root, view) => root.flow.lookAt({ view, step: 'scores' })", view)
        opened.settled()
        with opened.answered():
            flow.evaluate(opens_q)
        with opened.answered():
            chips.nth(place).click()
        expect(flow.locator(".panel")).to_be_visible()
        assert flow.evaluate(VIEW) == view
