"""The lesson on heads in a real browser: a reader changes an input and sees what is stated about many heads."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

OTHER = "white bird feared black horse"


def test_two_heads_make_the_dog_white_and_one_head_nearly_grey(screen):
    """Why many heads: the same matrices as two heads and as one."""
    opened = screen(lesson="heads")
    opened.wait_for_number("output [dog, colour]", "−0.83")
    assert "−0.29" not in opened.page.content()  # nobody has guessed
    opened.press("The same matrices as", "one head")
    opened.wait_for_sentence("The colour of “dog” becomes −0.29, not −0.83")
    opened.wait_for_number("output [dog, colour]", "−0.28")  # −0.289: labels hold all digits
    opened.type("Sentence", OTHER)
    opened.wait_for_number("output [horse, colour]", "0.28")
    assert opened.query() == {"ex": "en_colour", "heads": "one", "text": OTHER}


def test_a_select_box_shows_the_word_of_a_new_sentence_and_the_language_that_is_chosen(screen):
    """The option stays the same and its text does not."""
    opened = screen("?ex=zh_colour&lang=en", lesson="heads")
    example, word = opened.page.get_by_test_id("stSelectbox").get_by_role("combobox").all()
    before = word.input_value()
    expect(example).to_have_value("黑猫追白狗: the dog's colour?")
    opened.type("Sentence", "白鸟追黑马")
    expect(word).not_to_have_value(before)
    opened.page.get_by_text("中文", exact=True).click()
    expect(example).to_have_value("黑猫追白狗：狗什么颜色？")


def test_predict_then_see_and_the_link_keeps_it(screen):
    opened = screen(lesson="heads")
    opened.press("Predict: with one head, what becomes of the colour of “dog”?", "fainter")
    opened.wait_for_text("As predicted")
    opened.wait_for_number("output [dog, colour]", "−0.28")
    again = screen("?guess=2", lesson="heads")
    again.wait_for_text("Not as predicted")


def test_each_head_has_its_map_on_the_readers_own_sentence(screen):
    """Per-head maps."""
    opened = screen(lesson="heads")
    opened.type("Sentence", OTHER)
    opened.wait_for_number("weights [head 1, horse, black]", "0.83")
    opened.wait_for_number("weights [head 2, horse, feared]", "0.88")


def test_how_alike_heads_are(screen):
    """Per-head maps, and how alike heads are; heads that are redundant."""
    opened = screen("?open=bring&brings=alike", lesson="heads")
    opened.wait_for_text("The heads most alike are head 1 and head 2")
    before = opened.numbers("likeness [head 1, 2]")
    opened.press("Heads", "five built by hand")
    opened.wait_for_text("The heads most alike are head 3 and head 5")
    opened.wait_for_others("likeness [head 1, 2]", before)


def test_the_output_is_a_sum_over_heads_and_one_is_left_out(screen):
    """Sum view: each head's own contribution, and the output without it."""
    opened = screen("?open=bring", lesson="heads")
    opened.wait_for_number("contributions [head 1, dog, colour]", "−0.83")
    opened.wait_for_number("without_head [dog, colour]", "0")
    opened.type("Sentence", OTHER)
    opened.wait_for_number("contributions [head 1, horse, colour]", "0.83")
    opened.wait_for_text("without head 1 it moves by up to 0.83")
    opened.click_cell("contributions [head 1, horse, colour]")
    opened.page.locator(".arithmetic").wait_for()
    assert opened.arithmetic().startswith("0.83")


def test_even_weights_in_the_place_of_the_softmaxs(screen):
    """Replacing the weights by uniform ones and measuring what the prediction does."""
    opened = screen("?open=explain", lesson="heads")
    opened.wait_for_text("the output moves by 87 % of its length")
    opened.type("Sentence", "black cat chased black dog")
    opened.wait_for_text("Every weight is replaced by 1/5")
    opened.wait_for_number("output [dog, colour]", "0.4")  # two of five words are black
    opened.page.get_by_text("Open in the workbench").last.click()
    opened.wait_for_picture()
    opened.wait_for_sentence("attends evenly")
    assert opened.query()["wiring"] == "even"


def test_gradient_times_input_beside_the_weights(screen):
    """Gradient x input beside the weights; why a weight is not an explanation."""
    opened = screen("?open=explain&doubt=gradient", lesson="heads")
    opened.wait_for_text("The largest weight of head 2 is that of “chased” (0.89), but the colour of “dog”")
    opened.wait_for_number("gradient_x_input [white]", "−1.15")
    opened.choose("Number of the output", "action")
    opened.wait_for_text("depends most on “chased”, too")
    opened.type("Sentence", OTHER)
    opened.wait_for_text("The largest weight of head 2 is that of “feared”")


def test_a_deep_link_in_chinese_opens_on_its_own_example(screen):
    opened = screen("?lang=zh", lesson="heads")
    opened.wait_for_text("为什么要多个头？")
    opened.wait_for_number("output [狗, 颜色]", "−0.83")
    assert opened.outside == [] and opened.errors == []


def test_the_colour_flows_to_the_word_that_is_looked_at_above_the_fold(screen):
    opened = screen(lesson="heads", viewport={"width": 1280, "height": 720})
    painted = opened.page.locator(".painted")
    told = painted.locator(".told")
    expect(told).to_have_text(
        "“dog”: head 1 passes on 83 % of “white” (colour −1.00); head 2 passes on 89 % of “chased” (no colour). "
        "Its colour becomes −0.83."
    )
    box = painted.bounding_box()
    assert box["y"] + box["height"] <= 720 and box["width"] >= 0.6 * 1280
    assert painted.locator("path.paint").count() == 2  # of black and white, along head 1 alone
    painted.get_by_role("button", name="“cat”: head 1 passes on").click()
    expect(told).to_contain_text("of “black” (colour 1.00)")
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("Enter")
    expect(told).to_contain_text("“chased”:")
    assert opened.query() == {"ex": "en_colour"}  # who only looks changes nothing
    opened.press("The same matrices as", "one head")
    expect(told).to_contain_text("65 % of “chased” (no colour), 29 % of “white” (colour −1.00)")


def test_sixteen_words_are_painted_on_a_phone_without_sideways_scroll(screen):
    text = "+".join(["cat"] * 16)
    opened = screen(f"?text={text}", lesson="heads", viewport={"width": 390, "height": 844}, color_scheme="dark")
    expect(opened.page.locator(".painted .out .chip")).to_have_count(16)
    colours = "wall => ['backgroundColor', 'color'].map((name) => getComputedStyle(wall)[name])"
    drawn = opened.page.locator(".painted .wall").evaluate(colours)
    ground, ink = ([int(channel) for channel in re.findall(r"\d+", colour)] for colour in drawn)
    assert max(ground) < 100 and min(ink) > 200  # on a dark screen the ground is dark, and the words on it are light
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
