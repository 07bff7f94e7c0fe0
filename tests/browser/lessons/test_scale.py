"""The lesson on the scale in a real browser: a reader changes an input and sees what is stated."""

import math
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def point(opened, curve, d_k):
    """The number of a drawn point of a curve, once it is there."""
    drawn = opened.page.locator(f'path[aria-label^="{curve}: {d_k} → "]').first
    drawn.wait_for(state="attached")
    return float(drawn.get_attribute("aria-label").rpartition("→ ")[2].replace("−", "-"))


def test_a_deep_link_restores_the_lesson_with_its_guess(screen):
    opened = screen("?guess=0&d_k=1024&open=gradient&lang=en", lesson="scale")
    opened.wait_for_text("Not as predicted")
    opened.wait_for_sentence("the gradient at q (median) is 5.0 × 10⁻⁵; with it, 0.36 and 0.37.")
    opened.wait_for_text("How much each weight of this draw changes")
    assert opened.outside == [] and opened.errors == []


def test_why_sqrt_d_k_the_largest_weight_of_the_softmax_against_d_k_guessed_first(screen):
    opened = screen(lesson="scale")
    assert opened.sentence() == (
        "dₖ = 64: without the division the largest of 8 weights averages 0.87, and the gradient at q (median) is 0.55."
    )
    assert opened.page.locator('path[aria-label^="divided: "]').count() == 0
    opened.press("Predict: with the division, the largest weight …", "hardly changes")
    opened.wait_for_text("As predicted")
    opened.slide("Width dₖ of query and key", "End")
    opened.wait_for_sentence("dₖ = 1024: without the division the largest of 8 weights averages 0.97 and")
    opened.wait_for_sentence("; with it, 0.36 and 0.37.")
    assert round(point(opened, "undivided", 1), 2) == 0.31
    assert round(point(opened, "undivided", 1024), 2) == 0.97
    assert round(point(opened, "divided", 1024), 2) == 0.36
    opened.slide("Width dₖ of query and key", "Home")
    opened.wait_for_sentence("dₖ = 1: without the division the largest of 8 weights averages 0.31 and")
    opened.wait_for_sentence("; with it, 0.31 and")
    assert opened.query() == {"d_k": "1", "guess": "1"}


def test_why_sqrt_d_k_the_entropy_and_the_jacobians_norm_of_the_softmax(screen):
    opened = screen("?guess=1", lesson="scale")
    opened.press("Shown", "entropy")
    opened.wait_for_text("Shown")
    opened.page.locator('path[aria-label^="all keys alike: 1 → 3"]').wait_for(state="attached")
    assert round(point(opened, "divided", 1024), 1) == 2.5 and point(opened, "undivided", 1024) < 0.2  # of 3 bits
    opened.press("Shown", "slope of the softmax")
    even = f"all keys alike: 1 → {math.sqrt(7) / 8:.6f}"  # rounded below: the last digits need not agree
    opened.page.locator(f'path[aria-label^="{even[:-1]}"]').first.wait_for(state="attached")
    assert round(point(opened, "undivided", 1024), 3) == 0.044
    assert round(point(opened, "divided", 1024), 3) == 0.366


def test_other_keys_and_another_seed_are_the_readers_own(screen):
    opened = screen("?guess=1", lesson="scale")
    opened.slide("Keys", "Home")
    opened.wait_for_sentence("the largest of 2 weights")
    opened.page.locator('path[aria-label="all keys alike: 1 → 0.5"]').first.wait_for(state="attached")
    expect(opened.page.locator('.st-key-wide_live path[aria-label*="weights [head 1, q, "]')).to_have_count(2 * 2)
    before = opened.numbers("weights [head 1, q, 1]")
    opened.type("Seed of all draws", "5")
    opened.wait_for_text("The weights of one draw (seed 5), undivided")
    opened.wait_for_others("weights [head 1, q, 1]", before)
    assert opened.query() == {"guess": "1", "keys": "2", "seed": "5"}


def test_a_number_of_the_draw_opens_down_to_its_query(screen):
    opened = screen("?guess=1&d_k=2&keys=2&seed=0", lesson="scale")
    opened.click_cell("weights [head 1, q, 1]", -1)
    opened.page.locator(".arithmetic").wait_for()
    opened.follow(0, "scaled_scores [head 1, q, 1]")
    opened.follow(0, "scores [head 1, q, 1]")
    opened.page.locator(".arithmetic .sum", has_text="1.54 × (−2.18)").wait_for()
    opened.page.get_by_role("button", name="Open in the workbench").first.click()
    opened.wait_for_picture()
    assert opened.query()["q"] == "1.54,-0.29"


def test_on_a_phone_the_curves_are_there_to_their_names(screen):
    opened = screen("?guess=1", lesson="scale", viewport={"width": 390, "height": 844})
    point(opened, "divided", 1024)
    name = opened.page.locator(".frames text", has_text="undivided").first
    name.wait_for(state="attached")
    box = opened.page.locator(".frames").filter(visible=True).first.bounding_box()
    assert box["x"] + box["width"] <= 390  # what is wider scrolls in itself


def test_the_cloud_spreads_while_d_k_is_dragged_and_stands_above_the_fold_with_its_bars(screen):
    opened = screen("?guess=1&d_k=1", lesson="scale", viewport={"width": 1280, "height": 720})
    cloud = opened.page.locator(".cloud")
    cloud.locator(".dot .score").first.wait_for()
    narrow, still = (lane_width(cloud, lane) for lane in ("dot", "scaled_dot"))
    bars = opened.page.locator(".frames").first.bounding_box()
    assert bars["y"] + bars["height"] <= 720 and cloud.bounding_box()["width"] >= 0.6 * 1280
    opened.slide("Width dₖ of query and key", "End")
    expect(cloud).to_have_attribute("aria-label", re.compile("at dₖ = 1024"))
    assert lane_width(cloud, "dot") > 10 * narrow
    assert lane_width(cloud, "scaled_dot") < 2 * still


def lane_width(cloud, lane):
    """How wide the dots of a lane lie, in percent, wherever they still glide."""
    ends = cloud.locator(f".{lane} .score")
    first, last = (ends.nth(at).evaluate("dot => parseFloat(dot.style.cx)") for at in (0, -1))
    return last - first
