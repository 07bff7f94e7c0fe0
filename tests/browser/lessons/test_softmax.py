"""The lesson on softmax in a real browser: a reader changes an input and sees what is stated."""

import math

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_a_bar_is_dragged_and_everything_follows_before_the_server_hears_of_it(screen):
    opened = screen("?lang=en&temperature=0.5", lesson="softmax")
    track = opened.page.locator(".columns .signed").nth(1).bounding_box()
    height = track["y"] + track["height"] / 2
    opened.page.mouse.move(track["x"] + 0.6 * track["width"], height)
    opened.page.mouse.down()
    opened.page.mouse.move(track["x"] + 0.9 * track["width"], height)  # of −4 to 4
    powers = [math.exp(x / 0.5) for x in (2, 3.2, 0, -1)]
    shares = [power / sum(powers) for power in powers]
    expect(opened.page.locator(".columns .sum").first).to_have_text(f"sum {sum(powers):.2f}")
    expect(opened.page.get_by_role("button", name=f"share 2: {100 * shares[1]:.0f} %")).to_be_visible()
    expect(opened.page.locator("h5")).to_contain_text(f"gets {100 * shares[1]:.0f} %, {4 * shares[1]:.1f} times")
    expect(opened.page.locator(".goal")).to_contain_text(f"Now it gets {100 * shares[1]:.0f} %")
    assert opened.page.locator(".flow").evaluate("root => root.flow.snapshot.shares[1]") == pytest.approx(shares[1])
    assert "logits" not in opened.query()
    with opened.answered():
        opened.page.mouse.up()
    assert opened.query()["logits"] == "2, 3.2, 0, -1" and f"gets {100 * shares[1]:.0f} %" in opened.sentence()
    with opened.answered():
        opened.page.get_by_role("slider", name="number 2").press("ArrowLeft")
    assert opened.query()["logits"] == "2, 3.1, 0, -1" and opened.page.url.split("?")[0].endswith("/softmax")


def test_temperature_one_slider_from_one_hot_to_uniform(screen):
    opened = screen("?lang=en", lesson="softmax")
    assert opened.sentence() == "At τ = 1 the largest of 4 numbers gets 64 %, 2.6 times an even share."
    labels = [opened.page.get_by_text(label, exact=True).bounding_box() for label in ("Your numbers", "Temperature τ")]
    assert labels[0]["y"] == pytest.approx(labels[1]["y"], abs=1)
    opened.slide("Temperature τ", "Home")
    opened.wait_for_sentence("At τ = 0.1 the largest of 4 numbers gets over 99 %")
    opened.slide("Temperature τ", "End")
    opened.wait_for_sentence("At τ = 10 the largest of 4 numbers gets 29 %, 1.2 times an even share.")
    assert opened.query() == {"temperature": "10.0", "lang": "en"}


def test_any_numbers_become_shares_of_one_and_one_lesson_leads_to_the_next(screen):
    opened = screen(lesson="qkv")
    opened.page.keyboard.press("ArrowRight")
    opened.wait_for_text("What does softmax do?")
    opened.type("Your numbers", "3 0 0 0")
    opened.wait_for_sentence("the largest of 4 numbers gets 87 %")  # e³/(e³ + 3)
    opened.page.get_by_role("button", name="share 1: 87 %").wait_for()
    opened.page.keyboard.press("ArrowLeft")  # in the box of the numbers it belongs to the text
    opened.settled()
    assert opened.page.url.split("?")[0].endswith("/softmax")
    opened.page.get_by_text("What does softmax do?").click()
    opened.page.keyboard.press("ArrowLeft")
    opened.wait_for_text("What does one word take from the others?")


def test_build_it(screen):
    opened = screen(lesson="softmax")
    opened.wait_for_text("Now it gets 64 %")
    opened.slide("Temperature τ", "ArrowLeft", 3)
    opened.wait_for_text("Built: at τ = 0.25 the largest number gets 98 %")
    box = opened.page.get_by_text("Built: at τ = 0.25").bounding_box()
    assert box["y"] + box["height"] <= 720  # in sight on a projector of 1280 x 720, though a third row of bars has come


def test_stable_form_beside_the_naive_one_that_overflows_and_shift_invariance(screen):
    opened = screen("?open=stable", lesson="softmax")
    opened.wait_for_text("float64 cannot hold all exponentials")
    opened.wait_for_number("naive_weights [head 1, q, 3]", "NaN")
    opened.wait_for_number("stable_weights [head 1, q, 3]", "0.66")
    opened.press("Numbers", "your numbers")
    opened.wait_for_text("give the same shares here")
    opened.wait_for_number("naive_weights [head 1, q, 1]", "0.64")
    opened.slide("Add to every number", "End")
    opened.wait_for_text("With 1000 added to every number")
    opened.wait_for_number("naive_weights [head 1, q, 1]", "NaN")
    opened.wait_for_number("stable_weights [head 1, q, 1]", "0.64")  # a shift changes no share


def test_differentiable_with_its_jacobian(screen):
    opened = screen("?open=slope", lesson="softmax")
    opened.wait_for_number("jacobian [head 1, q, 1, 1]", "0.2292")  # .6439 × (1 − .6439)
    opened.type("Your numbers", "0, 0")
    opened.wait_for_number("jacobian [head 1, q, 1, 1]", "0.25")
    opened.wait_for_number("jacobian [head 1, q, 1, 2]", "−0.25")


def test_it_does_not_always_sharpen(screen):
    opened = screen("?open=sharp", lesson="softmax")
    opened.wait_for_number("weights [head 1, q, 1]", "0.475")
    opened.type("Two or more numbers", "0, 3")
    opened.wait_for_text("The largest share is 0.953, an even one 0.500")


def test_a_hundred_numbers_of_lecture_notes_001(screen):
    opened = screen("?open=many", lesson="softmax")
    opened.wait_for_text("Of 100 numbers the largest, 2.2698, gets 6 %")
    opened.slide("How many", "Home")
    opened.wait_for_text("Of 5 numbers the largest, 2.2409, gets 36 %")
