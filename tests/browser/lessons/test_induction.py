"""Copying in a real browser: heads are switched off, a sequence is typed, a network learns to copy in seconds."""

import re

import pytest

from tests.browser.conftest import PATIENCE
from tests.browser.lessons.test_bottleneck import points

pytestmark = pytest.mark.slow


def test_a_head_is_switched_off_and_copying_falls(screen):
    opened = screen("?lang=en", lesson="induction")
    opened.wait_for_sentence("After 500 steps 99 % of the repetition is predicted")
    opened.press("Heads that are on", "L1H1")
    opened.wait_for_sentence("without heads L1H1,")
    opened.press("Heads that are on", "L1H2")
    opened.wait_for_sentence("without heads L1H1, L1H2,")
    shown = points(opened, "heads that are on")
    assert max(shown[place] for place in range(18, 33)) < 0.2


def test_any_sequence_is_continued_and_its_arcs_follow(screen):
    opened = screen("?lang=en", lesson="induction")
    opened.wait_for_text("”: k, over 99 %")
    opened.type("Your symbols: a–z, A–Z, 0–9", "QwertQwe")
    opened.wait_for_text("”: r, ")
    arcs = opened.page.locator(".arcs")
    field, share = (arcs.locator(each).bounding_box() for each in ("rect.field", "text.much"))
    ends = [box["x"] + box["width"] for box in (field, share)]
    assert ends[0] == pytest.approx(ends[1], abs=2)  # below its field, not below the last symbol
    arcs.get_by_role("button", name="w #7", exact=True).hover()
    told = arcs.get_by_text(re.compile("“w #7”: L2H[12] gives .* to “e #3”, which came right after"))
    told.wait_for()
    arcs.get_by_role("button", name="w #7", exact=True).click()
    arcs.get_by_role("button", name=re.compile("^L2H1 → e")).click()
    opened.page.locator(".arithmetic").wait_for()
    assert opened.query()["cell"] == "arcs,L2,weights,0,0,6,2"
    opened.open_drawer("What is predicted in my text?")
    assert len(opened.numbers("foretold [")) == 7


def test_a_network_learns_to_copy_in_front_of_the_visitor(screen):
    opened = screen("?seed=2&lang=en", lesson="induction")
    opened.page.get_by_role("button", name="Train it yourself").click()
    opened.page.get_by_text("Seed 2: all 500 steps").wait_for(timeout=3 * PATIENCE)
    opened.page.locator("h5", has_text=re.compile(r"After 500 steps (9[5-9]|100) % of the repetition")).wait_for()
    opened.open_drawer("When do the heads appear?")
    assert len(points(opened, "L2H2", 2)) == 16  # every kept step of one's own
    opened.page.get_by_role("button", name="Open in the workbench").first.click()
    opened.wait_for_picture()
    assert opened.query()["network"] == "copy_two.2.500"


def test_a_rate_that_is_too_large_ends_with_a_sentence(screen):
    opened = screen("?rate=10000.0&lang=en", lesson="induction")
    opened.page.get_by_role("button", name="Train it yourself").click()
    opened.wait_for_text("all numbers of a training run must stay finite")
    opened.page.get_by_role("button", name="From the first step again").wait_for()
