"""The lesson on masks in a real browser: each row of the mechanisms about masks, with a reader's own input."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def draw(opened, *cells):
    """Draws over the mask from cell to cell, as a mouse does."""
    opened.settled()
    stage, mouse = opened.page.locator(".map .stage"), opened.page.mouse
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    places = [opened.place(*cell) for cell in cells]
    for number, place in enumerate(places):
        mouse.move(box["x"] + place["x"], box["y"] + place["y"])
        if number == 0:
            mouse.down()
    mouse.up()
    opened.settled()


def test_a_drawn_mask_comes_back_from_a_deep_link(screen):
    opened = screen("?mask=custom&paint=100,110,111&ex=en_it&text=Tom+fed+it&lang=en", lesson="masks")
    opened.wait_for_text("6 of 9")
    assert opened.outside == [] and opened.errors == []


def test_the_causal_mask_is_built_by_drawing(screen):
    """causal: before the softmax, j <= i, exact zeros after; the goal is reached when no word sees a later one."""
    opened = screen(lesson="masks")
    threads = opened.page.locator(".threads")
    expect(threads.get_by_label("it → dog: 95 %", exact=True)).to_be_attached()
    threads.get_by_role("button", name="the").first.hover()
    expect(threads.locator(".blocked")).to_have_text(["dog", "and", "it", "barked"])  # the future fades
    opened.press("Mask", "none")
    expect(threads.get_by_label("it → dog: 93 %", exact=True)).to_be_attached()
    opened.wait_for_text("Pairs that still look ahead: 21")
    for row in range(6):
        draw(opened, (row, row + 1), (row, 6))
    opened.wait_for_text("Built: the causal mask. “it” gives “dog” 0.945; without a mask 0.933.")
    expect(threads.get_by_label("it → dog: 95 %", exact=True)).to_be_attached()
    expect(threads.locator("path[aria-label^='it → barked']")).to_have_count(0)
    assert opened.query()["paint"] == "1000000,1100000,1110000,1111000,1111100,1111110,1111111"
    opened.type("Sentence", "Tom read and he laughed")
    opened.wait_for_sentence("“he” gives 96 % of its attention to “Tom”")
    opened.wait_for_text("15 of 25")


def test_a_fully_masked_row_in_five_treatments(screen):
    """fully masked row: weights 0, output 0; what NaN, -1e9 filled and -1e9 added give instead, on a drawn mask."""
    opened = screen("?mask=none&open=nothing", lesson="masks")
    draw(opened, (1, 0), (1, 6))
    opened.wait_for_text("“fed” may not attend to any word. In 3 of five ways to block a row")
    labels = "path[aria-label*='weights [head 1, fed, dog]: {}']"
    for number in ("0", "NaN", "0.14"):
        opened.page.locator(labels.format(number)).first.wait_for(state="attached")
    opened.wait_for_text("In 3 of five ways to block a row, blocked words still get a share; in 1 the result is NaN")
    opened.press("Precision", "float16")
    opened.wait_for_text("In 1 of five ways to block a row, blocked words still get a share; in 3 the result is NaN")


def test_the_workbench_shows_exactly_the_drawn_mask(screen):
    opened = screen("?mask=none", lesson="masks")
    draw(opened, (5, 3), (5, 3))
    expect(opened.page.locator(".threads path[aria-label^='it → dog']")).to_have_count(0)
    opened.page.get_by_role("button", name="Open in the workbench").first.click()
    opened.wait_for_picture()
    opened.wait_for_number("weights [head 1, it, dog]", "0")
    assert opened.query()["t"] == "5" and opened.query()["allowed"].count("0") == 1
