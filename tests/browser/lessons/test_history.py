"""The line of years in a real browser: walked by keys and by hand, and its link."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Screen

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("width", [1280, 390])
def test_the_line_is_walked_by_keys_and_by_hand_and_its_link_leads_on(profile, server, width):
    page = profile.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    screen = Screen(page, server)
    page.goto(f"{server}/history")
    who, stops = page.locator(".timeline .said p strong"), page.locator(".timeline .stop")
    expect(who).to_have_text("Vaswani et al.")
    expect(page.locator(".timeline .stop[aria-current=true]")).to_be_in_viewport()
    page.keyboard.press("ArrowLeft")
    expect(who).to_have_text("Xu et al.")
    page.locator(".timeline .stop[aria-current=true]").press("Home")
    expect(who).to_have_text("Elman")
    page.keyboard.press("ArrowRight")
    expect(who).to_have_text("Hochreiter, Schmidhuber")
    stops.nth(1).press("End")
    expect(who).to_have_text("Xiao et al.")
    expect(stops.nth(20)).to_be_focused()
    expect(stops.nth(20)).to_be_in_viewport()
    first, second = stops.nth(20).bounding_box(), stops.nth(18).bounding_box()
    page.mouse.move(first["x"] + 20, first["y"] + 20)
    page.mouse.down()
    page.mouse.move(second["x"] + 20, second["y"] + 20, steps=3)
    page.mouse.up()
    expect(who).to_have_text("Dao et al.")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".timeline .said a").click()
    page.wait_for_url("**/cost?*open=stored*")
    assert screen.errors + screen.blocked + screen.outside == []
    page.close()
