"""Puzzles in a real browser: numbers pasted and typed into cells by keyboard; a phone on which nothing sticks out."""

import pytest
from playwright.sync_api import expect


@pytest.mark.slow
def test_a_sink_is_built_by_keyboard_and_the_arrows_lead_on(screen):
    clipboard = ["clipboard-read", "clipboard-write"]
    opened = screen("?puzzle=sink&hint=True&lang=en", lesson="puzzles", permissions=clipboard)
    opened.wait_for_text("now 0.00: raise it")
    opened.page.evaluate("() => navigator.clipboard.writeText('0.5\\t1')")  # two cells of a spreadsheet
    last = opened.page.get_by_role("textbox", name="w_k, 4 start, H1·1")
    last.press("Control+V")
    opened.wait_for_text("now 0.50: raise it")
    assert opened.query()["numbers"] == "w_k~3.0=0.5;3.1=1"
    opened.page.keyboard.press("Control+A")
    opened.page.keyboard.type("nan")
    opened.page.keyboard.press("Enter")
    opened.wait_for_text("w_k, row 4, column 1, must be finite")
    expect(last).to_have_value("0.5")
    opened.page.keyboard.press("ArrowUp")
    expect(opened.page.get_by_role("textbox", name="w_k, 3 verb, H1·1")).to_be_focused()
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.type("1")
    opened.page.keyboard.press("Enter")  # in the last row, from which no way leads on
    # of it: dog 6, the sink 4, Anna −6, over √2: 69.59 / (69.59 + 16.92 + .0144 + 5) = .7604
    opened.wait_for_number("weights [head 1, it, dog]", "0.760")
    opened.wait_for_text("It can be done with fewer changes: 1.")
    opened.page.keyboard.press("ArrowRight")  # belongs to the cells
    assert opened.query()["numbers"] == "w_k~3.0=1;3.1=1"
    opened.page.locator("h4").first.click()
    opened.page.keyboard.press("ArrowLeft")
    opened.wait_for_text("The same output at half the width")
    assert opened.query() == {"puzzle": "half", "hint": "True", "lang": "en"}
    assert opened.outside == [] and opened.errors == []


def test_a_number_is_dragged_up_and_down(screen):
    opened = screen("?puzzle=sink&lang=en", lesson="puzzles")
    cell = opened.page.get_by_role("textbox", name="w_k, 4 start, H1·1")
    cell.hover()
    box = cell.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    opened.page.mouse.down()
    opened.page.mouse.move(x, y + 17, steps=4)
    expect(cell).to_have_value("−1")  # two steps down, before the server hears of it
    opened.page.mouse.move(x, y - 25, steps=4)
    expect(cell).to_have_value("1.5")
    with opened.answered():
        opened.page.mouse.up()
    assert opened.query()["numbers"] == "w_k~3.0=1.5"


def test_on_a_phone_nothing_sticks_out(screen):
    opened = screen("?puzzle=cancel&hint=True&lang=en", lesson="puzzles", viewport={"width": 390, "height": 800})
    assert opened.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    assert opened.page.get_by_test_id("stException").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("puzzle", ["wake", "turn"])
def test_on_a_phone_the_numbers_and_the_map_are_seen_whole(screen, puzzle):
    opened = screen(f"?puzzle={puzzle}&lang=en", lesson="puzzles", viewport={"width": 390, "height": 800})
    for part in (opened.page.get_by_role("textbox"), opened.page.locator("path[aria-label*='weights [']")):
        boxes = [each.bounding_box() for each in part.all()]
        assert boxes and max(box["x"] + box["width"] for box in boxes) <= 390


@pytest.mark.slow
def test_the_numbers_that_are_dragged_and_those_of_the_map_are_large_and_stand_above_the_fold(screen):
    opened = screen("?puzzle=sink&lang=en", lesson="puzzles")  # the most words
    number = opened.page.get_by_role("textbox").first
    assert number.evaluate("each => parseFloat(getComputedStyle(each).fontSize)") >= 22
    shares = opened.page.locator("path[aria-label*='weights [']")
    assert shares.first.bounding_box()["height"] >= 42
    last = shares.last.bounding_box()
    assert last["y"] + last["height"] <= 720


@pytest.mark.slow
def test_what_must_be_true_stands_above_the_fold(screen):
    opened = screen("?puzzle=cancel&lang=en", lesson="puzzles")
    last = opened.page.get_by_text("largest number from head 2").bounding_box()
    sums = opened.page.locator("path[aria-label*='contributions [head 2, fed, noun]']").first.bounding_box()
    assert max(box["y"] + box["height"] for box in (last, sums)) <= 720
