"""A lecture in a real browser: keys, also of a remote and while somebody types; full screen; the second window."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WINDOW, Screen

PLACE = "() => [...new URLSearchParams(location.search)].filter(([name]) => ['scene', 'step'].includes(name)).join()"


@pytest.fixture
def showing(chromium, server):
    """A function that opens the page by a link in a browser profile of its own, and gives a Screen."""
    opened = []

    def open_link(query):
        context = chromium.new_context(viewport=WINDOW, locale="en")
        opened.append(Screen(context.new_page(), server))
        opened[-1].page.goto(f"{server}/present{query}")
        opened[-1].page.locator(".lectern, .prompter").first.wait_for(state="attached")
        opened[-1].settled()
        return opened[-1]

    yield open_link
    for each in opened:
        each.page.context.close()
    assert [each.blocked for each in opened] == [[] for _ in opened]


def wait_for_place(opened, place):
    opened.page.wait_for_function(f"wanted => ({PLACE})() === wanted", arg=place)
    opened.settled()


def press(opened, key, place):
    opened.page.keyboard.press(key)
    wait_for_place(opened, place)


COMPOSING = """key => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true, isComposing: true }))"""
HIDDEN = ("stHeader", "stToolbar", "stSidebar")


def test_keys_and_buttons_lead_through_it_and_nothing_else_is_on_the_screen(showing):
    opened = showing("?lecture=ten_minutes&scene=2&step=question")
    page = opened.page
    for name in HIDDEN:
        expect(page.get_by_test_id(name)).to_be_hidden()
    press(opened, "Space", "scene,2,step,cell")
    press(opened, "PageDown", "scene,2,step,map")
    assert smallest_text(page) >= 16
    press(opened, "ArrowRight", "scene,3,step,symbol")
    press(opened, "PageUp", "scene,2,step,map")
    page.keyboard.press("b")
    expect(page.locator(".lectern-black")).to_be_visible()
    page.keyboard.press("b")
    expect(page.locator(".lectern-black")).to_be_hidden()
    page.get_by_role("button", name="On (→, space)").click()
    wait_for_place(opened, "scene,3,step,symbol")
    press(opened, "Space", "scene,3,step,shapes")  # the button that was clicked keeps no key for itself
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    wait_for_place(opened, "scene,3,step,cell")
    press(opened, "F5", "scene,1,step,symbol")
    page.wait_for_function("() => document.fullscreenElement !== null")
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement === null")
    press(opened, "ArrowRight", "scene,1,step,shapes")
    press(opened, "Escape", "")
    for name in HIDDEN[:1]:
        expect(page.get_by_test_id(name)).to_be_visible()
    assert opened.errors == [] and opened.outside == []


def smallest_text(page):
    """The smallest letters of the picture, in pixels of the screen."""
    return page.locator("[data-testid=stVegaLiteChart] svg text").evaluate_all(
        """all => Math.min(...all.filter(each => each.textContent.trim()).map(each => {
            const { a, b } = each.getScreenCTM(); // turned and scaled
            return parseFloat(getComputedStyle(each).fontSize) * Math.hypot(a, b);
        }))"""
    )


def test_keys_belong_to_whoever_types_and_a_key_leads_back_to_the_script(showing):
    opened = showing("?lecture=ten_minutes&scene=4&step=map")
    page = opened.page
    expect(page.get_by_text("93 %").first).to_be_visible()
    page.keyboard.press("e")
    box = page.get_by_label("Sentence", exact=True)
    box.fill("Tom fed the cat and it purred")
    for key in ("s", "b", "ArrowRight", "Space", "PageDown"):  # all of them the text's own
        box.press(key)
    for key in ("ArrowRight", "n", " ", "b"):
        page.evaluate(COMPOSING, key)
    page.evaluate("document.activeElement.blur()")
    for key in ("ArrowRight", " ", "b"):  # what an input method takes is no key of ours, wherever the focus is
        page.evaluate(COMPOSING, key)
    expect(page.get_by_text("of its attention to “cat”", exact=False)).to_be_visible()
    expect(box).to_have_value("Tom fed the cat and it purredsb ")
    expect(page.locator(".lectern-black")).to_be_hidden()
    wait_for_place(opened, "scene,4,step,map")
    page.keyboard.press("s")
    expect(page.get_by_text("of its attention to “dog”", exact=False)).to_be_visible()
    page.keyboard.press("e")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    assert opened.errors == []


def test_the_second_window_hears_the_first_moves_it_and_nobody_else_hears_them(showing):
    opened = showing("?lecture=ten_minutes&scene=1&step=question")
    with opened.page.context.expect_page() as opening:
        opened.page.keyboard.press("n")
    notes = opening.value
    expect(notes.locator(".note")).to_contain_text("Every word asks a question")
    expect(notes.locator(".status")).to_contain_text("Follows the presentation")
    expect(notes.locator(".next")).to_have_text("Arithmetic")
    press(opened, "End", "scene,11,step,map")
    expect(notes.locator(".title")).to_have_text("Your turn")
    expect(notes.locator(".next")).to_have_text("the end")
    notes.keyboard.press("Home")
    wait_for_place(opened, "scene,1,step,symbol")
    expect(notes.locator(".scene_step")).to_have_text("Formula")
    opened.page.keyboard.press("e")
    opened.settled()
    opened.type("Sentence", "Tom fed the cat and it purred")
    expect(notes.locator(".departed")).to_contain_text("leads back")
    stranger = showing("?view=notes&pair=00000000&lecture=ten_minutes")
    expect(stranger.page.locator(".status")).to_contain_text("No presentation was heard")
    stranger.page.keyboard.press("PageDown")
    expect(stranger.page.locator(".scene_step")).to_have_text("Sizes")
    expect(notes.locator(".scene_step")).to_have_text("Formula")
    notes.close()
    assert opened.errors == []
