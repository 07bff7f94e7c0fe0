"""The lesson on cross-attention in a real browser: a reader changes an input and sees what is stated."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_a_deep_link_restores_direction_and_guess(screen):
    link = "?lang=en&direction=backward&word=3&answer=1&open=lengths"
    opened = screen(link, lesson="cross")
    opened.wait_for_sentence("Head 1: “了” gives 48 % each to “saw” and “yesterday”")
    opened.wait_for_text("As predicted")
    opened.wait_for_text("T = 6 queries, S = 5 keys")
    assert opened.outside == [] and opened.errors == []


def test_a_word_keeps_its_threads_and_a_turn_lets_the_other_sentence_ask(screen):
    opened = screen("?lang=en", lesson="cross")
    assert opened.sentence().startswith("Head 1: “yesterday” gives 97 % of its attention to “昨天”")
    picture = opened.page.locator(".threads")
    picture.get_by_role("button", name="了").hover()
    expect(picture.locator("path.away")).to_have_count(25)  # of 30 only those to 了 stay
    expect(picture).to_contain_text("“了” gets 0.12 in total.")
    picture.get_by_role("button", name="Swap sides").click()
    opened.wait_for_sentence("“看见” gives over 99 % of its attention to “saw”")
    picture.get_by_role("button", name="了").click()
    opened.wait_for_sentence("“了” gives 48 % each to “saw” and “yesterday”")
    expect(picture).to_contain_text("“了” gives 1.00 in total.")


def test_one_context_vector_a_decoder_step(screen):
    """attention in seq2seq: c_t = sum alpha_ti h_i, e_ti a dot or additive; decoder step x source token."""
    opened = screen("?lang=en&open=context_vector", lesson="cross")
    opened.wait_for_text("“yesterday” attends to the source. For “昨天”, e = s · h = 6.00 and α = 0.94")
    opened.wait_for_number("head_outputs [head 1, yesterday, 2]", "0.94")
    opened.press("Score e", "additive")
    opened.wait_for_text("Here s has 12 numbers and h has 6")
    opened.page.locator(".threads").get_by_role("button", name="cat").click()
    opened.wait_for_text("“cat” attends to the source. For “猫”, e = ")
    opened.wait_for_text("= −20.07 and α = 0.90")
    opened.type("Chinese", "我看见了一只狗")
    opened.page.get_by_text("of “猫” is").wait_for(state="detached")
    opened.type("English", "I saw a dog")
    opened.wait_for_text("“dog” attends to the source. For “狗”, e = ")
    opened.wait_for_text("= −20.07")
    opened.click_cell("head_outputs [head 1, dog, 6]")
    opened.page.locator(".arithmetic").wait_for()
