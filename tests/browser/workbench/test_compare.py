"""A and B beside each other: pointing at a cell of one map outlines the same cell of all three, without the server."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

LIT = "path[stroke='#d97706'][stroke-width='1.5']"  # the frame of the chosen row is thicker
CELL = "weights [head 1, it, dog]: A 0.93"


def test_the_same_cell_lights_up_in_all_three_maps_without_a_rerun(screen):
    opened = screen("?temp=2&against=&pinned=values")
    page, sent = opened.page, []
    opened.page.get_by_text("Every row: how far apart A and B are").click()
    cells = page.locator(f'.st-key-wide_compared path[aria-label*="{CELL}"]')
    expect(cells).to_have_count(3)
    opened.settled()
    expect(page.locator(LIT)).to_have_count(0)
    opened.socket.on("framesent", lambda frame: sent.append(frame))
    cells.nth(2).hover()  # in B − A
    expect(page.locator(LIT)).to_have_count(5)  # A, B, B − A, and the row's two figures
    places = page.locator(LIT).evaluate_all("all => all.map(each => each.getBoundingClientRect())")
    wanted = cells.evaluate_all("all => all.map(each => each.getBoundingClientRect())")
    assert {round(box["top"]) for box in places} == {round(box["top"]) for box in wanted}
    assert {round(box["left"]) for box in wanted} < {round(box["left"]) for box in places}
    page.mouse.move(5, 5)
    expect(page.locator(LIT)).to_have_count(0)
    assert sent == []


def test_the_same_cell_is_read_on_three_canvases(screen):
    text = " ".join(f"w{n}" for n in range(70))
    opened = screen("?" + urlencode({"text": text, "mask": "causal", "against": f"text={text}", "pinned": "values"}))
    maps = opened.page.locator(".map")
    expect(maps).to_have_count(3)
    maps.nth(1).locator(".stage").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        opened.page.keyboard.press(key)
    read = maps.locator(".read").all_inner_texts()
    places = {line.rpartition(":")[0] for line in read}
    assert len(places) == 1 and "→" in places.pop()
    aloud = maps.locator(".read").evaluate_all("lines => lines.map(line => line.ariaLive)")
    assert aloud == ["off", "polite", "off"]  # a screen reader says the cell once


def test_on_a_phone_the_three_maps_stand_below_each_other_within_the_screen(screen):
    opened = screen("?temp=2&against=&pinned=values", viewport={"width": 390, "height": 844})
    cells = opened.page.locator(f'path[aria-label*="{CELL}"]:visible')
    expect(cells).to_have_count(3)
    boxes = [cell.bounding_box() for cell in cells.all()]
    assert len({round(box["x"]) for box in boxes}) == 1 and all(box["x"] + box["width"] <= 390 for box in boxes)
    assert sorted(box["y"] for box in boxes) == [box["y"] for box in boxes]
    maps = opened.page.locator(".st-key-narrow_compared svg.marks")
    assert maps.evaluate("svg => svg.getBoundingClientRect().right") <= 390
