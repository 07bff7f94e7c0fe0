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
