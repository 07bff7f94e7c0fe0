"""The lesson on softmax in a real browser: a reader changes an input and sees what is stated."""

import pytest

pytestmark = pytest.mark.slow


def test_temperature_one_slider_from_one_hot_to_uniform(screen):
    opened = screen("?lang=en", lesson="softmax")
    assert opened.sentence() == "At τ = 1 the largest of 4 numbers gets 64 %, 2.6 times an even share."
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
    opened.page.locator("path[aria-label*='weights [head 1, q, 1]: 0.87']").first.wait_for(state="attached")
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
    opened.wait_for_text("float64 cannot hold an exponential")
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
