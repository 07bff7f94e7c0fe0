"""The lesson on tokens in a real browser: pieces grow with the merges, and one piece lights its letters in all rows."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_pieces_grow_as_the_merges_are_scrubbed(screen):
    opened = screen("?lang=en", lesson="tokens")
    pieces = opened.page.locator(".tokens .row").nth(1)
    slider = opened.page.get_by_label("Merges", exact=True)
    slider.press("Home")
    expect(pieces).to_contain_text("0 merges; the newest: none yet")
    slider.press("ArrowRight")
    expect(pieces).to_contain_text("the table has 352")
    slider.press("End")
    expect(pieces).to_contain_text("20 pieces; the table has 951")


def test_the_slider_keeps_the_focus_while_the_server_answers(screen):
    opened = screen("?lang=en", lesson="tokens")
    slider = opened.page.get_by_label("Merges", exact=True)
    slider.press("Home")
    slider.evaluate("range => (range.isFirst = true)")
    slider.press("ArrowRight")
    opened.page.wait_for_function(
        """() => {
            const shadows = [...document.querySelectorAll("*")].map((each) => each.shadowRoot);
            const tokens = shadows.find((each) => each?.querySelector(".tokens"));
            return !tokens.querySelector("[type=range]").isFirst;
        }"""
    )
    opened.page.keyboard.press("End")
    expect(slider).to_have_value(slider.get_attribute("max"))


def test_a_piece_lights_the_same_letters_everywhere(screen):
    opened = screen("?lang=en", lesson="tokens")
    opened.page.locator(".tokens .row:nth-child(2) .token", has_text="␣tired").hover()
    lit = [row.locator(".lit").all_inner_texts() for row in opened.page.locator(".tokens .row").all()]
    assert lit == [["tired"], ["␣tired"], [*"tired"]]
