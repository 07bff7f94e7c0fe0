"""The lesson on positions in a real browser: a reader changes an input and sees what is stated about positions."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

OTHER = "white bird feared black horse"


def look(opened, thread):
    """Waits until a thread is there, such as "chased → white: 83 %"."""
    expect(opened.page.locator(".threads").get_by_label(thread, exact=True)).to_be_attached()


def test_it_opens_on_a_bag_of_words_and_places_bring_the_colour_back(screen):
    opened = screen(lesson="positions")
    look(opened, "dog → white: 20 %")
    opened.press("What gives the position", "1, p, p²: built by hand")
    opened.wait_for_number("output [dog, colour]", "−0.83")
    opened.press("What gives the position", "none: a bag of words")
    opened.type("Sentence", OTHER)
    opened.wait_for_number("output [horse, colour]", "0")
    assert opened.query() == {"ex": "en_colour", "text": OTHER}


def test_the_dial_turns_the_head_to_the_next_word_and_says_so(screen):
    """W_q[one, 0]: -8 previous, 0 itself, +8 next."""
    opened = screen("?positions=with", lesson="positions")
    opened.wait_for_text("move the slider until every word looks at the word after it")
    opened.slide("How far the head looks, in words", "ArrowRight", 2)
    look(opened, "white → white: 83 %")
    opened.slide("How far the head looks, in words", "ArrowRight", 2)
    look(opened, "chased → white: 83 %")
    opened.wait_for_text("Every word looks at the word after it, if there is one.")
    opened.type("Sentence", OTHER)
    look(opened, "feared → black: 83 %")
    opened.wait_for_text("Every word looks at the word after it, if there is one.")


def test_sinusoids_as_a_map_and_as_waves(screen):
    """Sinusoidal encoding as a map and as waves."""
    opened = screen("?open=sines", lesson="positions")
    opened.wait_for_number("sinusoidal_x [2, 1]", "0.84147")  # sin 1
    opened.slide("Width D", "ArrowLeft", 2)  # 4: the second pair turns a hundred times as slowly
    opened.wait_for_number("sinusoidal_x [2, 3]", "0.0099998")  # sin 0.01
    waves = screen("?open=sines&sines_as=waves", lesson="positions")
    waves.page.locator("path[aria-label^='sin, wavelength 6.28: 3 → 0.1411']").wait_for(state="attached")
    slower = waves.page.locator("path[aria-label^='sin, wavelength 62.8:']")
    expect(slower).to_have_count(16)
    waves.slide("Positions", "ArrowRight")
    waves.page.locator("path[aria-label^='sin, wavelength 6.28: 23 →']").wait_for(state="attached")
    expect(slower).to_have_count(24)


def test_the_scores_of_rope_against_the_distance_follow_the_word_that_asks(screen):
    curve = screen("?open=distance&by=curve", lesson="positions")
    curve.page.locator("path[aria-label^='interleaved pairs: 3 → −35.6']").wait_for(state="attached")  # 36 cos 3
    curve.page.locator(".threads").get_by_role("button", name="black").first.click()
    curve.page.locator("path[aria-label^='interleaved pairs: 3 → 0']").wait_for(state="attached")  # it asks for nothing


def test_a_score_is_four_products_of_words_and_places(screen):
    opened = screen("?open=parts", lesson="positions")
    opened.wait_for_number("content_content [head 2, dog, chased]", "6")
    opened.type("Sentence", OTHER)
    opened.wait_for_number("content_content [head 2, horse, feared]", "6")
    opened.choose("Head", "head 1")
    opened.wait_for_text("each score of “horse” in head 1")


def test_a_deep_link_in_chinese_restores_the_dial(screen):
    opened = screen("?lang=zh&positions=with&dial=8", lesson="positions")
    opened.wait_for_text("词在哪里？")
    opened.wait_for_number("输出 [猫, 颜色]", "−0.08")
    opened.wait_for_text("每个词都在看后一个词。")
    assert opened.outside == [] and opened.errors == []


def test_the_formula_of_the_sinusoids_fits_on_a_phone(screen):
    opened = screen("?open=sines&lang=en", lesson="positions", viewport={"width": 390, "height": 844})
    formula = opened.page.locator(".katex-display").first
    formula.wait_for()
    assert formula.evaluate("formula => formula.scrollWidth <= formula.clientWidth")
