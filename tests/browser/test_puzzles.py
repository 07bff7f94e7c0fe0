"""Puzzles in a real browser: numbers typed into cells by keyboard, and a phone on which nothing sticks out."""

import pytest


def test_a_dead_head_is_woken_by_keyboard_and_the_arrows_lead_on(screen):
    opened = screen("?numbers=w_k~0.0%3D2&hint=True&lang=en", lesson="puzzles")
    opened.wait_for_text("now 0.00: raise it")
    cell = opened.page.get_by_role("textbox", name="w_q, 1 noun, H1·1")
    cell.press("ArrowDown")
    opened.page.keyboard.type("2")
    opened.page.keyboard.press("Enter")
    opened.wait_for_number("weights [head 1, it, dog]", "0.7698")  # e^(4/√2) = 16.92; 16.92 / (16.92 + 5 + .059)
    opened.wait_for_text("Solved. A query needs something to ask with")
    opened.page.keyboard.press("ArrowRight")  # belongs to the cells
    assert opened.query()["numbers"] == "w_q~1.0=2,w_k~0.0=2"
    opened.page.locator("h4").first.click()
    opened.page.keyboard.press("ArrowRight")
    opened.wait_for_text("by one row of W_k")
    assert opened.query() == {"puzzle": "turn", "hint": "True", "lang": "en"}
    assert opened.outside == [] and opened.errors == []


@pytest.mark.parametrize("name", ["cancel"])
def test_on_a_phone_nothing_sticks_out(screen, name):
    opened = screen(f"?puzzle={name}&hint=True&lang=en", lesson="puzzles", viewport={"width": 390, "height": 800})
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
    assert opened.page.evaluate(wide) <= 390
    assert opened.page.get_by_test_id("stException").count() == 0
