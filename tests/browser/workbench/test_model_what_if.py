"""What if, in the browser: a head switched off by a click and by keys, bars that move, a drawn mask, undo."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

TIRED = "The animal did not cross the street because it was too tired."


@pytest.fixture
def opened(screen):
    return screen(f"?ex=model_en&text={TIRED}&t=8&panel=what_if")


def test_a_head_is_switched_off_and_on_again_by_click_keys_and_undo(opened):
    panel = opened.page.locator(".what-if")
    answer = panel.locator(".outcome").first
    head = panel.get_by_role("button", name="layer 3: which noun is meant?: off, or on again")
    expect(answer.locator(".row").first).to_contain_text("99 % → 99 %")
    head.click()
    expect(answer.locator(".row").first).to_contain_text("99 % → <1 %")
    expect(head).to_have_attribute("aria-pressed", "true")
    head.focus()
    opened.page.keyboard.press("Enter")
    expect(answer.locator(".row").first).to_contain_text("99 % → 99 %")
    expect(head).to_be_focused()
    opened.page.get_by_role("button", name="Undo", exact=True).click()
    expect(answer.locator(".row").first).to_contain_text("99 % → <1 %")
    panel.get_by_role("button", name="Undo all changes").click()
    expect(head).to_have_attribute("aria-pressed", "false")


def test_a_mask_is_drawn_by_keys_and_the_address_says_it(opened):
    panel = opened.page.locator(".what-if")
    panel.get_by_role("combobox", name="layer 1, head 2").select_option("mask")
    frame = panel.locator(".frame")
    frame.focus()
    opened.page.keyboard.press("ArrowUp")  # from the last row, first column
    opened.page.keyboard.press("ArrowRight")
    expect(panel.locator(".drawn .told")).to_contain_text("tired → the:")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_url("**changes=1.1%3Amask%3A12-1**")
    expect(panel.locator(".frame")).to_be_focused()
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_url(lambda url: "12-1" not in url)


def test_the_list_of_each_alone_off_switches_off(opened):
    panel = opened.page.locator(".what-if")
    answer = panel.locator(".outcome").first
    answer.locator("summary").click()
    first = answer.locator(".alone .row").first
    expect(first).to_contain_text("layer 3: which noun is meant?")
    first.get_by_role("button").click()
    expect(panel.locator(".tile.off")).to_have_count(1)
    expect(answer.locator("details")).to_have_attribute("open", "")


def test_a_weight_that_moved_opens_its_head(opened):
    panel = opened.page.locator(".what-if")
    panel.get_by_role("button", name="layer 1, head 3: off, or on again").click()
    rows = panel.locator(".moved .row")
    expect(rows).to_have_count(5)
    expect(rows.first.locator(".numbers")).to_have_text(re.compile(r"^.+ % → .+ %$"))
    told = rows.first.locator(".head").inner_text()
    rows.first.get_by_role("button").click()
    layer = int(told.removeprefix("layer ")[0])
    opened.page.wait_for_url(f"**layer={layer}**" if layer != 3 else lambda url: "head=" in url)
    expect(rows).to_have_count(5)


def test_the_path_opens_its_numbers_and_its_heads(opened):
    panel = opened.page.locator(".what-if")
    panel.locator(".pushes .sum button").nth(3).click()
    expect(opened.page.locator(".arithmetic").last).to_be_visible()
    panel.locator(".pushes th button").first.click()
    opened.page.wait_for_url("**layer=1**")


def test_on_a_phone_nothing_stands_beyond_the_edge(screen):
    narrow = screen(f"?ex=model_en&text={TIRED}&t=8&panel=what_if", viewport={"width": 390, "height": 844})
    narrow.page.locator(".what-if .path").wait_for()
    assert narrow.page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = narrow.page.locator(".what-if .wide")
    assert wide.evaluate("(part) => part.getBoundingClientRect().right") <= 390
