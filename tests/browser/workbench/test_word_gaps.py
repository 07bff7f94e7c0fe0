"""A Chinese sentence is cut anew by a click between two characters, at any width."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 844}}])
def test_a_click_between_two_characters_parts_a_word(screen, options):
    opened = screen("?lang=zh&text=南京市长江大桥很长", **options)
    words = opened.page.locator(".word-gaps .word")
    expect(words.first).to_have_text("南京市")
    opened.page.get_by_role("button", name="南京").first.wait_for()
    opened.page.locator(".word-gaps .gap.inside").nth(1).click()
    expect(words.first).to_have_text("南京")
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not opened.errors


def test_on_a_phone_the_controls_are_as_long_as_they_are(screen):
    opened = screen("?lang=zh&text=南京市长江大桥很长", viewport={"width": 390, "height": 844})
    opened.page.get_by_text("矩阵：可以编辑").first.wait_for()
    pane = opened.page.locator(".st-key-pane")
    assert pane.evaluate("(pane) => pane.scrollHeight <= pane.clientHeight")
    choice = opened.page.locator(".flow .roles select").nth(1)
    assert choice.bounding_box()["x"] > 70  # behind a word of four characters
