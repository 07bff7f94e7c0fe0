"""Meaning in a real browser: a guess, a step of training, a head that is off, and the picture on a phone."""

import pytest

pytestmark = pytest.mark.slow


def cells(opened):
    """What is said of the cells of the picture."""
    opened.settled()
    return opened.page.locator(".st-key-wide_heads path[aria-label]").evaluate_all(
        "paths => paths.map(path => path.getAttribute('aria-label'))"
    )


def test_a_head_is_changed_and_the_answer_with_it(screen):
    opened = screen("?lang=en", lesson="meaning")
    opened.wait_for_sentence("B ? %")
    hidden = len(cells(opened))
    opened.page.get_by_role("radio", name="off", exact=True).click()
    opened.wait_for_text("Head off")
    opened.page.get_by_text("in fewer than 20").click()
    opened.wait_for_text("As predicted")
    opened.wait_for_sentence("B 13 %")
    shown = cells(opened)
    assert len(shown) > hidden and all(": 0" in said for said in shown)
    opened.page.wait_for_url(lambda url: "change=off" in url and "guess=2" in url)


def test_the_picture_follows_the_step(screen):
    opened = screen("?lang=en&guess=2", lesson="meaning")
    opened.wait_for_sentence("After 5,000 steps")
    last = cells(opened)
    opened.page.get_by_role("slider").first.press("Home")
    opened.wait_for_sentence("After 0 steps")
    assert cells(opened) != last


def test_nothing_is_cut_off_on_a_phone(screen):
    opened = screen("?lang=zh&guess=2", lesson="meaning")
    opened.page.set_viewport_size({"width": 390, "height": 844})
    opened.settled()
    wide = opened.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 390
