"""The search: it finds everything by its own title in both languages; it is used by keyboard, at any width."""

import re

import pytest
from playwright.sync_api import expect

from pages.components import read_part
from pages.panels.toolbar import pack_findable
from pages.site.findable import list_findable

pytestmark = pytest.mark.slow
HOSTILE = "<img src=x onerror=alert(1)> ${1} \\ \" ' %s .* (("
FIND = """async ([script, entries, typed]) => {
    const { find, makeIndex } = await import(`data:text/javascript;charset=utf-8,${encodeURIComponent(script)}`);
    const index = makeIndex(entries);
    return typed.map((text) => find(index, text));
}"""


def test_everything_is_found_first_by_its_own_title_in_both_languages(chromium):
    page = chromium.new_page()
    given = [read_part("find.js"), [pack_findable(found) for found in list_findable()]]
    titles = [(number, title) for number, found in enumerate(list_findable()) for title in found.titles.values()]
    ranked = page.evaluate(FIND, [*given, [title for _, title in titles]])
    namesakes = {
        title.casefold(): {n for n, other in titles if other.casefold() == title.casefold()} for _, title in titles
    }
    for (number, title), numbers in zip(titles, ranked, strict=True):
        assert number in numbers[: len(namesakes[title.casefold()])], title
    nothing = page.evaluate(FIND, [*given, ["", "  ", HOSTILE, "x" * 10_000, "​", "constructor __proto__"]])
    assert nothing == [[]] * 6
    page.close()


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 844}}])
def test_a_drawer_is_found_and_opened_by_keyboard(screen, options):
    opened = screen("?lang=en", lesson="cost", **options)
    page = opened.page
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search")
    field.press_sequentially("heads add")
    results = page.get_by_role("option")
    results.first.wait_for()
    assert "What does each head add to the output?" in results.first.inner_text()
    field.fill("head")
    field.press("ArrowDown")
    field.press("ArrowDown")
    field.press("ArrowUp")
    assert page.get_by_role("option", selected=True).inner_text() == results.nth(1).inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    field.fill("heads add")
    with opened.answered():
        field.press("Enter")
    page.wait_for_url("**/heads?*open=bring*")
    opened.wait_for_text("Why many heads?")


def test_what_is_typed_is_shown_as_text_and_an_example_of_the_page_that_is_open_opens(screen):
    opened = screen("?lang=en")
    page, field = opened.page, opened.page.get_by_role("combobox", name="Search")
    page.get_by_role("button", name="Search").click()
    field.fill(HOSTILE)
    page.get_by_text("Nothing found with these words.").wait_for()
    assert page.get_by_role("option").count() == 0
    field.fill("eight heads of 64")
    page.get_by_role("option").first.click()
    page.wait_for_url(re.compile("ex=eight_heads"))
    opened.wait_for_picture()
    assert not opened.errors and not opened.outside


def test_enter_leads_to_the_control_of_the_page_even_before_the_entries_are_loaded(screen):
    opened = screen("?lang=en")
    page, field = opened.page, opened.page.get_by_role("combobox", name="Search")
    held = []
    page.route("**/*findable*", lambda route: held.append(route))
    with page.expect_request("**/*findable*"):
        page.get_by_role("button", name="Search").click()
    field.fill("temperature")  # also the name of a sign, which a lesson explains
    field.press("Enter")
    assert page.get_by_role("option").count() == 0
    for route in held:
        route.continue_()
    slider = page.locator(".st-key-c_temperature input")
    expect(slider).to_be_focused()
    expect(page.locator(".st-key-c_temperature")).not_to_have_css("outline-style", "none")
