"""One vector in a real browser: a reader changes an input and sees what is stated, and trains a network."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE

pytestmark = pytest.mark.slow

STEPS = "Steps of training"


def points(opened, name, which=0):
    """A curve's points in a picture: {length: share}."""
    opened.settled()
    pictures = opened.page.locator("[data-testid=stVegaLiteChart], .frames")
    drawn = pictures.nth(which).locator(f'path[aria-label^="{name}: "]')
    drawn.first.wait_for(state="attached")
    labels = drawn.evaluate_all("paths => paths.map(path => path.getAttribute('aria-label'))")
    pairs = (label.removeprefix(f"{name}: ").split(" → ") for label in labels)
    return {float(x): float(y) for x, y in pairs}


def test_one_context_vector_measured_against_length_with_and_without_attention(screen):
    """seq2seq with one context vector: measured accuracy against input length, with and without attention."""
    opened = screen("?task=dates&lang=en", lesson="bottleneck")
    opened.wait_for_sentence("additive attention gets 100 % right, one vector gets 27 % right")
    early = points(opened, "one vector")
    assert min(points(opened, "additive").values()) == 1 and max(early.values()) < 0.7
    opened.slide(STEPS, "End")
    opened.wait_for_sentence("After 800 steps")
    assert min(points(opened, "one vector").values()) > 0.8
    opened.slide(STEPS, "Home")
    opened.wait_for_sentence("additive attention gets 0 % right, one vector gets 0 % right")
    opened.press("Task", "reverse letters")
    opened.wait_for_sentence("on unseen texts of up to 40 letters")
    opened.slide(STEPS, "End")
    opened.wait_for_sentence("After 3,000 steps")
    with_it, without = points(opened, "additive"), points(opened, "one vector")
    assert all(with_it[length] > 0.85 for length in (10, 20, 30, 40)) and max(without[n] for n in (15, 20, 30, 40)) == 0


def test_any_date_is_typed_and_the_alignment_follows(screen):
    """attention in seq2seq: a map of decoder step x source token."""
    opened = screen("?task=dates&step_of=800&text_dates=March+5,+2019&lang=en", lesson="bottleneck")
    opened.wait_for_text("“March 5, 2019” becomes 2019年3月5日 with additive attention")
    opened.type("Your date", "the 21st of June, 1987")
    opened.wait_for_text("becomes 1987年6月21日 with additive attention")
    neck = opened.page.locator(".neck")
    neck.get_by_role("slider").press("Home")
    neck.get_by_text(
        re.compile("^Letter 1[.] one vector: “1” ✓[.] additive attention: “1” ✓; largest weight: .* %, on “.[^”]*”[.]$")
    ).wait_for()
    neck.get_by_role("slider").press("End")
    neck.get_by_text(re.compile("^Letter 10[.] .*additive attention: “日”")).wait_for()
    opened.type("Your date", "21. Juni")
    opened.wait_for_text("every symbol must be one that the network was trained on")
    neck.get_by_text(re.compile("^Letter 10[.] .*additive attention: “日”")).wait_for()


def test_one_decoder_step_down_to_the_arithmetic(screen):
    """attention in seq2seq: c_t = sum alpha_ti h_i, e_ti = a(s, h_i), followed back."""
    opened = screen("?task=dates&text_dates=March+5,+2019&step_of=800&open=one_step&t=7&lang=en", lesson="bottleneck")
    opened.wait_for_text("“5” is being written.")
    opened.click_cell("weights [head 1, 5, 5]", -1)
    opened.wait_for_text("weights [head 1, 5, 5] =")
    opened.follow(0, "scores [head 1, 5, 5]")
    opened.choose("Symbol written", "3")
    opened.wait_for_text("“3” is being written")


def test_a_network_is_trained_here_until_it_writes_dates(screen):
    opened = screen("?task=dates&kind=dot&seed=5&lang=en", lesson="bottleneck")
    opened.page.get_by_role("button", name="Train it yourself").click()
    opened.page.get_by_text(re.compile(r"Seed 5: step \d+ of 800")).wait_for()
    opened.page.get_by_role("button", name="Stop").wait_for()
    box = opened.page.get_by_label("Your date", exact=True)  # the page stays usable, and never settles
    box.fill("5 May 1999")
    box.press("Enter")
    opened.wait_for_text("“5 May 1999” becomes")
    learned = re.compile(r"dot attention gets (9[5-9]|100) % right")
    opened.page.locator("h5", has_text=learned).wait_for(timeout=3 * PATIENCE)
    opened.page.get_by_role("button", name="Stop").click()
    opened.page.get_by_text(re.compile(r"Seed 5: stopped after step \d+ of 800")).wait_for()
    opened.wait_for_text("becomes 1999年5月5日 with dot attention")
    assert max(points(opened, "dot (yours)").values()) == 1
    opened.page.get_by_role("button", name="Go on").click()
    opened.page.get_by_text(re.compile(r"Seed 5: step \d+ of 800")).wait_for()
    opened.page.get_by_role("button", name="Stop").click()
    opened.page.get_by_role("button", name="Back to the supplied network").click()
    opened.page.get_by_role("button", name="Train it yourself").wait_for()


def test_leaving_the_page_stops_the_training_and_a_reload_that_ends_it_says_so(screen):
    opened = screen("?task=dates&kind=additive&seed=6&lang=en", lesson="bottleneck")
    opened.page.get_by_role("button", name="Train it yourself").click()
    opened.page.get_by_text(re.compile(r"Seed 6: step \d+ of 800")).wait_for()
    opened.page.get_by_role("link", name="Next").click()
    opened.page.get_by_text("Why not an RNN or a CNN?").first.wait_for()
    opened.page.get_by_role("link", name="Previous").click()
    opened.page.get_by_text(re.compile(r"Seed 6: (step|stopped after step) \d+")).wait_for()
    told = opened.page.locator(".unfinished")
    expect(told).to_be_empty()
    opened.page.reload()
    expect(told).to_contain_text("The reload ended your training")
    told.get_by_role("button", name="Close").click()
    expect(told).to_be_empty()
    opened.page.reload()
    opened.page.get_by_role("button", name="Train it yourself").wait_for()
    expect(told).to_be_empty()


def test_on_a_phone_the_map_scrolls_and_the_page_does_not(screen):
    opened = screen("?lang=zh", lesson="bottleneck", viewport={"width": 390, "height": 844})
    assert opened.page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


def test_on_a_phone_sixty_letters_are_broken_and_no_wider_than_the_page(screen):
    letters = "abcdefghijklmnopqrstuvwxyz" * 2
    query = f"?task=reversal&text_reversal={letters}&lang=zh"
    opened = screen(query, lesson="bottleneck", viewport={"width": 390, "height": 844})
    opened.wait_for_text(letters)
    main = opened.page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
