"""A language model in the browser: its rail, the parts around a layer, words that it does not know."""

import re

import pytest
from playwright.sync_api import expect

from attention_core.learned.language.reading import cut_sentence, run_model

pytestmark = pytest.mark.slow

TIRED = "The animal did not cross the street because it was too tired."
AT = 9  # "it"


def weights(layer, model="en_asked_encoder"):
    return run_model(model, cut_sentence(model, TIRED))[f"{layer}.attention"]["weights"][0]  # (H, T, S)


def test_a_map_of_the_rail_opens_its_head_in_its_layer(screen):
    opened = screen(f"?ex=model_en&text={TIRED}&t={AT}")
    maps = opened.page.locator(".flow .rail button")
    expect(maps).to_have_count(12)
    maps.nth(1).click()  # layer 1, head 2
    expected = weights(1)[1, AT]
    opened.wait_for_number("weights [head 2, it, street]", str(float(expected[7]))[:5])
    opened.settled()
    assert opened.query()["layer"] == "1" and opened.query()["head"] == "1"
    expect(maps.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(opened.page.locator(".flow .glow")).to_have_count(0)  # nothing changed: another layer is looked at
    maps.nth(3).click()  # a head of the layer that is here: the browser knows it
    opened.wait_for_number("weights [head 4, it, street]", str(float(weights(1)[3, AT, 7]))[:5])


def test_a_number_of_the_sum_is_opened_and_followed_with_the_keyboard(screen):
    opened = screen(f"?ex=model_en&text={TIRED}&t={AT}")
    strips = opened.page.locator(".block .strip.part")
    expect(strips).to_have_count(16)
    strips.nth(2).focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        opened.page.keyboard.press(key)
    sums = opened.page.locator(".arithmetic")
    expect(opened.page.get_by_text("sum of all parts · parts [1.attention.head_2, it, 3]")).to_be_visible()
    sums.locator(".operand").first.click()
    expect(sums.locator(".trail button")).to_have_count(1)
    sums.locator(".operand").first.click()
    expect(sums.locator(".trail button").last).to_have_text("layer 1, attention: each head through Wₒ")
    expect(opened.page.get_by_text("layer 1, attention · head_outputs [head 2, it, 1]")).to_be_visible()


def test_a_word_that_may_come_out_is_chosen_and_a_head_is_opened_from_the_sum(screen):
    opened = screen(f"?ex=model_en_decoder&text={TIRED}&t={AT}")
    block = opened.page.locator(".block")
    second = block.locator(".word .said").nth(1)
    word = second.inner_text()
    second.click()
    expect(block.locator(".word.chosen .said")).to_have_text(word)
    expect(block.locator("h5").nth(1)).to_have_text(f"change of the logit of “{word}”")
    block.locator("button.head").nth(4).click()  # layer 2, head 1
    expect(opened.page).to_have_url(re.compile("layer=2"))


def test_the_steps_in_a_feed_forward_layer_unfold_and_stay_when_another_head_opens(screen):
    opened = screen(f"?ex=model_en&text={TIRED}&t={AT}")
    block = opened.page.locator(".block")
    inner = block.locator(".name.inner:visible")
    expect(block.locator(".name.part").first).to_be_visible()
    expect(inner).to_have_count(0)
    second = block.get_by_role("button", name="feed-forward").nth(1)
    second.click()
    expect(inner).to_have_count(5)
    expect(second).to_have_attribute("aria-expanded", "true")
    block.locator("button.head").nth(1).click()  # layer 1, head 2
    expect(opened.page).to_have_url(re.compile("layer=1"))
    opened.settled()
    expect(inner).to_have_count(5)
    block.locator(".strip.inner:visible").last.click()
    expect(opened.page.get_by_text(re.compile("layer 2, feed-forward · activated"))).to_be_visible()


def test_the_words_follow_the_temperature_while_it_is_dragged(screen):
    opened = screen(f"?ex=model_en_decoder&text={TIRED}&t={AT}")
    block = opened.page.locator(".block")
    logits = run_model("en_asked_decoder", cut_sentence("en_asked_decoder", TIRED))["unembedding"]["logits"][0, AT]
    heat = block.get_by_role("slider", name="Temperature of the logits")
    first = block.locator(".word .cell").first
    for position, temperature in ((1, 4), (0.75, 2)):  # from 0.25 to 4 by equal ratios
        heat.evaluate("(input, position) => { input.value = position; input.oninput(); }", position)
        share = float((logits / temperature).softmax(-1).max())
        expect(first).to_have_text(f"{100 * share:.0f} %")
    heat.evaluate("input => input.onchange()")
    first.click()
    expect(opened.page.get_by_text("logits · probabilities")).to_be_visible()
    operand = opened.page.locator(".arithmetic .operand").first
    operand.click()
    expect(opened.page.get_by_text("logits · scaled_logits")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_it_all_without_scrolling_aside(screen, language):
    opened = screen(f"?ex=model_{language}&lang={language}", viewport={"width": 390, "height": 844})
    opened.page.locator(".block .strip").first.wait_for()
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inner = "[...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean)"
    block = f"{inner}.map(root => root.querySelector('.block')).find(Boolean)"
    assert opened.page.evaluate(f"{block}.scrollWidth <= {block}.clientWidth + 1")


def test_a_word_is_chosen_beside_itself_in_the_picture(screen):
    opened = screen("?text=My teacher loves pizza because it is hot&t=5")
    choice = opened.page.locator(".flow .roles select").nth(1)
    expect(choice).to_have_attribute("aria-label", "What this word is: pizza")
    choice.select_option("thing")
    expect(opened.page.locator(".flow .headline")).to_contain_text("it attends to pizza, 92 %")


def test_a_sentence_that_is_far_away_is_marked_in_the_picture(screen):
    opened = screen("?ex=model_en&text=The quick brown fox loves my zorb because it is lazy.")
    marked = opened.page.locator(".flow .word.marked")
    expect(marked.filter(has_text="zorb")).to_have_count(1)
    expect(opened.page.get_by_text("The model guesses here", exact=True)).to_be_visible()
