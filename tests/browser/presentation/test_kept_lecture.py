"""One's own lecture is the browser's: it outlives a reload, and its tabs have the same."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Screen


@pytest.mark.slow
def test_a_scene_outlives_a_reload_and_appears_in_another_tab_until_it_is_thrown_away(screen):
    opened = screen("?lang=en")
    page = opened.page
    with opened.answered():
        page.get_by_text("Add to lecture").first.click()
    page.reload()
    opened.wait_for_picture()
    opened.settled()
    other = Screen(page.context.new_page(), opened.address)
    other.page.goto(f"{opened.address}/present?lang=en")
    expect(other.page.get_by_role("radio", name="My lecture", checked=True)).to_be_visible()
    cards = other.page.locator(".scenes .scene")
    expect(cards).to_have_count(1)

    with opened.answered():
        page.get_by_text("Add to lecture").first.click()
    expect(page.get_by_text("Lecture: scene 2")).to_be_visible()
    expect(cards).to_have_count(2)

    other.settled()
    other.page.get_by_text("Delete my lecture").click()
    other.page.get_by_text("Delete it from this browser").click()
    expect(other.page.get_by_role("radio", name="My lecture")).to_have_count(0)
    expect(page.get_by_text("Add to lecture").first).to_be_visible()
    assert page.evaluate("localStorage.getItem('attention-lecture')") is None

    page.evaluate("localStorage.setItem('attention-lecture', '<b>nothing</b>')")
    expect(other.page.get_by_text("cannot be read")).to_be_visible()
    expect(other.page.get_by_test_id("stException")).to_have_count(0)
    assert other.errors == opened.errors == other.blocked == []
    other.page.close()
