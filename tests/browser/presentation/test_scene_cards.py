"""The cards of a lecture's scenes in a real browser: put in order by drag and by keyboard, and chosen by a click."""

import pytest
from playwright.sync_api import expect

from pages.lectures.kinds.text import OwnText
from pages.lectures.script import Lecture, Scene, lecture_to_link

pytestmark = pytest.mark.slow


def test_cards_are_put_in_order_by_drag_and_by_keyboard_and_a_click_chooses(screen):
    scenes = tuple(Scene(OwnText(name), name, steps=("text",)) for name in ("one", "two", "three"))
    page = screen.page
    page.goto(f"{screen.address}/present?own={lecture_to_link(Lecture('Mine', scenes))}")
    titles = page.locator(".scenes .title")
    expect(titles).to_have_text(["one", "two", "three"])
    screen.settled()
    from_card, to_card = (page.locator(".scene").nth(at).bounding_box() for at in (0, 2))
    page.mouse.move(from_card["x"] + 40, from_card["y"] + 40)
    page.mouse.down()
    page.mouse.move(to_card["x"] + 40, to_card["y"] + 40, steps=8)
    expect(titles).to_have_text(["two", "three", "one"])
    with screen.answered():
        page.mouse.up()
    expect(page.get_by_label("Title", exact=True).last).to_have_value("one")
    expect(page.locator(".scenes .heard")).to_have_text("Scene 3 of 3: one")
    with screen.answered():
        page.keyboard.press("Alt+ArrowLeft")
    expect(titles).to_have_text(["two", "one", "three"])
    expect(page.locator(".scenes .heard")).to_have_text("Scene 2 of 3: one")
    expect(page.locator(".scenes button:focus .title")).to_have_text("one")
    page.keyboard.press("ArrowRight")
    with screen.answered():
        page.keyboard.press("Enter")
    expect(page.get_by_label("Title", exact=True).last).to_have_value("three")
    expect(page.locator(".scenes .chosen .title")).to_have_text("three")
