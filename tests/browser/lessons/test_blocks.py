"""The lessons on the block in a real browser: the walk is dragged and played, a thread opens by keyboard."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow
WALK = "Parts added so far"


def test_the_encoders_walk_is_dragged_and_played_and_its_parts_unfold(screen):
    opened = screen("?lang=en", lesson="encoder")
    walk = opened.page.get_by_label(WALK)
    reached = opened.page.locator(".reached")
    expect(reached).to_contain_text("All together: the logit of")
    walk.press("Home")
    expect(reached).to_contain_text("At the start, the word's own vector")
    walk.press("ArrowRight")
    expect(reached).to_contain_text("Attention in layer 1 changes the logit")
    expect(opened.page.locator(".parts > .later").first).to_be_visible()
    opened.page.get_by_role("button", name="▶ Play").click()
    expect(reached).to_contain_text("Feed-forward in layer 1 changes the logit")
    opened.page.get_by_role("button", name="❚❚ Pause").click()
    opened.page.get_by_role("button", name=re.compile("attention")).first.click()
    expect(opened.page.locator(".parts")).to_contain_text("head 1")
    assert opened.errors == []


def test_the_decoder_looks_back_asks_and_writes_and_a_thread_opens_by_keyboard(screen):
    opened = screen("?lang=en", lesson="decoder")
    walk = opened.page.get_by_label(WALK)
    reached = opened.page.locator(".reached")
    walk.press("Home")
    expect(reached).to_contain_text("Of the words so far, “<start>” attends most to “<start>”: 100 %.")
    walk.press("ArrowRight")
    expect(reached).to_contain_text("Of the English words, “<start>” attends most to")
    walk.press("ArrowRight")
    expect(reached).to_contain_text("After “<start>” comes “看见”")
    expect(opened.page.locator(".decoder .word.now")).not_to_have_class(
        re.compile("later")
    )  # only words to come are pale
    thread = opened.page.get_by_role("button", name=re.compile("^<start> → cat:")).first
    with opened.answered():
        thread.press("Enter")
    opened.page.locator(".arithmetic").wait_for()
    assert opened.arithmetic().startswith("exp(")
    assert opened.errors == []
