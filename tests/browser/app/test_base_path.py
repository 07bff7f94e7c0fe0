"""A page that is opened by its own address finds its server at once, and leads to the others."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Screen

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("ending", ["", "/"])
def test_a_lesson_that_is_opened_by_its_address_asks_for_nothing_that_is_not_there(chromium, server, ending):
    page = chromium.new_context().new_page()
    failed, errors = [], []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened = Screen(page, server)
    opened.open_lesson(f"heads{ending}", "?lang=en")
    assert (failed, errors) == ([], [])
    page.get_by_role("link", name="Next").click()
    page.wait_for_url(f"{server}/positions*")
    opened.settled()
    page.get_by_role("link", name="Previous").click()
    page.wait_for_url(f"{server}/heads*")
    opened.settled()
    page.goto(f"{server}/?lang=en")
    opened.wait_for_picture()
    expect(page.locator(".flow .word").first).to_be_attached()
    assert (failed, errors) == ([], [])
    page.context.close()
