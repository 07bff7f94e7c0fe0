"""The lesson on positions in a real browser: a reader changes an input and sees what is stated about positions."""

import math

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


def test_shuffled_words_take_their_outputs_with_them_unless_something_tells_the_order(screen):
    """Without positions a permutation of the input permutes the output."""
    opened = screen("?open=order", lesson="positions")
    opened.wait_for_text("Every word keeps its output in the new order")
    opened.type("Sentence", OTHER)
    opened.slide("Shuffle", "ArrowRight")
    opened.wait_for_text("Every word keeps its output in the new order")
    there = opened.numbers("output [feared, animal]")
    assert len({*there.values()}) == 1
    opened.press("What gives the order", "a causal mask")
    opened.wait_for_text("The order counts")
    opened.press("What gives the order", "sinusoids")
    opened.wait_for_text("The order counts")


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


def test_two_positions_meet_the_same_wherever_they_stand(screen):
    opened = screen("?open=sines&sines_as=pairs&count=6", lesson="positions")
    opened.wait_for_number("scores [head 1, 1, 3]", "2.5637")
    opened.wait_for_number("scores [head 1, 4, 6]", "2.5637")


def test_rope_is_a_rotation_and_its_scores_hear_of_the_distance_alone(screen):
    """RoPE: what it adds to the score at distance 1, 2, 3."""
    opened = screen("?open=distance", lesson="positions")
    opened.wait_for_text("the score is −2.50")
    opened.page.locator("path[aria-label^='q: dog: (4.54']").wait_for(state="attached")  # -6 sin 4
    opened.wait_for_text("q turned by 4.00, k by 2.00")
    opened.slide("All words moved along by", "End")
    opened.wait_for_text("q turned by 24.00, k by 22.00")
    opened.page.locator("path[aria-label^='q: dog: (5.43']").wait_for(state="attached")  # -6 sin 24
    opened.wait_for_text("the score is −2.50")
    opened.press("Which numbers form a pair", "halves")
    opened.wait_for_text("the score is 6.00")
    opened.type("Sentence", "dog chased cat")
    opened.press("Which numbers form a pair", "interleaved pairs")
    opened.wait_for_text(f"the score is {6 * math.cos(1):.2f}")
    curve = screen("?open=distance&by=curve", lesson="positions")
    curve.page.locator("path[aria-label^='interleaved pairs: 3 → −35.6']").wait_for(state="attached")  # 36 cos 3
    curve.page.locator(".threads").get_by_role("button", name="black").first.click()
    curve.page.locator("path[aria-label^='interleaved pairs: 3 → 0']").wait_for(state="attached")  # it asks for nothing


def test_alibi_is_seen_with_eight_heads_and_not_with_two(screen):
    """ALiBi: what it adds at distance 1, 2, 3; with two heads it is invisible."""
    opened = screen("?open=distance&by=alibi", lesson="positions")
    opened.wait_for_number("bias [head 1, dog, white]", "−0.5")
    opened.wait_for_number("bias [head 1, dog, chased]", "−1")
    opened.wait_for_number("bias [head 1, dog, cat]", "−1.5")
    opened.type("Sentence", "black cat chased white dog saw bird")
    opened.wait_for_text("go from 0.406 for the word itself to 0.020 for the farthest word in head 1")
    opened.press("Heads", "2")
    opened.wait_for_text("go from 0.171 for the word itself to 0.118 for the farthest word in head 1")
    opened.press("Show", "weights")
    opened.wait_for_number("weights [head 2, bird, black]", "0.141")


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
