"""A change draws anew only the parts of the page that show something else after it: nothing else is left stale."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

NEW = "() => [...document.querySelectorAll('.st-key-workbench input:not([data-seen])')].map(box => box.ariaLabel)"
MARK = "() => [...document.querySelectorAll('.st-key-workbench input')].forEach(box => box.dataset.seen = 1)"


def undo(opened) -> None:
    opened.page.get_by_role("button", name=re.compile("Undo")).click()


def test_what_follows_from_a_change_is_drawn_and_undo_draws_it_as_it_was(screen):
    opened = screen("?ex=built_heads&lang=en")
    number = opened.page.get_by_role("spinbutton", name="Local window: reach to each side")
    badge = opened.page.get_by_test_id("stPopover").filter(has_text="checked")
    link = opened.query()
    opened.open_row("Masks: window, padding, custom")
    local = opened.page.get_by_role("button", name="local window", exact=True)
    local.click()
    expect(number).to_be_visible()
    assert opened.query()["mask"].startswith("local")
    expect(badge).to_contain_text("checked")
    undo(opened)
    expect(number).to_have_count(0)
    expect(local).to_have_attribute("aria-pressed", "false")
    assert opened.query() == link
    expect(opened.page.get_by_role("button", name=re.compile("Undo"))).to_be_disabled()


def test_a_refusal_comes_and_goes_and_the_other_controls_stay(screen):
    opened = screen("?lang=en")
    opened.page.evaluate(MARK)
    opened.type("Sentence", "")
    expect(opened.page.get_by_test_id("stAlert")).to_have_count(1)
    undone = opened.page.get_by_role("button", name=re.compile("Undo"))
    expect(undone).to_be_disabled()
    opened.type("Sentence", "Anna fed the dog and she barked")
    opened.wait_for_sentence("“she” gives 93 %")
    expect(opened.page.get_by_test_id("stAlert")).to_have_count(0)
    expect(undone).to_be_enabled()
    assert opened.page.evaluate(NEW) == ["Show the difference"]  # there from now on


def test_another_example_and_another_language_reach_every_part(screen):
    opened = screen("?lang=en")
    opened.open_row("Set what each head does")
    opened.page.get_by_role("button", name="Examples", exact=True).click()
    here = opened.page.locator(".examples a[aria-current]")
    expect(here).to_contain_text("Who is “it”?")
    expect(here.locator("svg rect")).to_have_count(49)  # 7 x 7 weights
    with opened.answered():
        opened.page.get_by_label("Find an example").fill("five heads")
        opened.page.keyboard.press("Enter")
    expect(opened.page.get_by_test_id("stPopoverBody")).to_be_hidden()
    expect(opened.page.locator(".st-key-c_heads [aria-checked=true]")).to_have_text("5")
    expect(opened.page.locator(".st-key-c_built [aria-pressed=true]")).to_have_count(5)
    opened.page.get_by_text("中文", exact=True).click()
    expect(opened.page.get_by_label("句子", exact=True)).to_be_visible()
    expect(opened.page.locator("[data-testid=stColumn]").get_by_text("Temperature")).to_have_count(0)


def test_an_opened_editor_follows_the_head_that_is_looked_at_and_a_change(screen):
    opened = screen("?lang=en")
    opened.open_way("Matrices")
    opened.page.get_by_text("what if: scores", exact=True).click()
    about = opened.page.locator(".st-key-side")
    expect(about).to_contain_text("head 1")
    with opened.answered():
        opened.page.locator(".flow .rail button").nth(1).click()
    opened.look_at(1)
    opened.wait_for_sentence("Head 2: “fed”")
    expect(about).to_contain_text("head 2")
    opened.type("Sentence", "Anna fed")
    opened.wait_for_sentence("Head 2: “fed”")
    expect(about.locator("textarea").first).to_have_value(re.compile(r"^[^\n]*\n[^\n]*$"))  # two tokens, two rows
