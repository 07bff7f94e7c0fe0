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


def test_the_readers_own_two_sentences_of_different_lengths(screen):
    """self or cross: one sequence or two; T != S."""
    opened = screen("?lang=en&open=lengths", lesson="cross")
    opened.wait_for_text("T = 5 queries, S = 6 keys")
    opened.type("English", "She fed the dog")
    opened.wait_for_text("T = 4 queries, S = 6 keys")
    opened.type("Chinese", "她喂了那只狗")
    opened.wait_for_sentence("“She” gives 91 % of its attention to “她”")
    opened.wait_for_text("T = 4 queries, S = 5 keys")
    opened.wait_for_text("Rows sum to She 1.00, fed 1.00, the 1.00, dog 1.00. Columns sum to 她 0.9")
    opened.press("Sequences", "one: the sentence itself")
    opened.wait_for_text("T = 4 queries, S = 4 keys")
    opened.press("Sequences", "random, eight heads")
    opened.wait_for_text("weights 8 × 5 × 6; rows × columns of the output: 5 × 64")
    opened.slide("Queries T", "End")
    opened.wait_for_text("weights 8 × 12 × 6; rows × columns of the output: 12 × 64")
    opened.type("English", "She fed the zebra")
    opened.wait_for_text("Not in the dictionary here, so taken as zeros: zebra.")


def test_a_decoders_words_attend_to_each_other_and_then_ask(screen):
    opened = screen("?lang=en&open=decoder", lesson="cross")
    opened.wait_for_text(
        "queries stay the same (largest difference 0): under a causal mask, later words change nothing"
    )
    opened.wait_for_number("weights [head 1, saw, cat]", "0")  # blocked
    opened.page.get_by_text("Causal mask", exact=True).click()
    opened.wait_for_text("these queries differ by up to 0.05")
    opened.type("English", "She fed the dog today")
    opened.wait_for_text("Head 1: “dog” gives 23 % of its attention to “了”")  # nothing here is a dog


def test_one_context_vector_a_decoder_step(screen):
    """attention in seq2seq: c_t = sum alpha_ti h_i, e_ti a dot or additive; decoder step x source token."""
    opened = screen("?lang=en&open=context_vector", lesson="cross")
    opened.wait_for_text("“yesterday” attends to the source. For “昨天”, e = s · h = 6.00 and α = 0.94")
    opened.wait_for_number("head_outputs [head 1, yesterday, 2]", "0.94")
    opened.press("Score e", "additive")
    opened.wait_for_text("Here s has 12 numbers and h has 6")
    opened.page.locator(".threads").get_by_role("button", name="cat").click()
    opened.wait_for_text("“cat” attends to the source. For “猫”, e = v_a · tanh(s W_aq + h W_ak) = −20.07 and α = 0.90")
    opened.type("Chinese", "我看见了一只狗")
    opened.page.get_by_text("of “猫” is").wait_for(state="detached")
    opened.type("English", "I saw a dog")
    opened.wait_for_text("“dog” attends to the source. For “狗”, e = v_a · tanh(s W_aq + h W_ak) = −20.07")
    opened.click_cell("head_outputs [head 1, dog, 6]")
    opened.page.locator(".arithmetic").wait_for()


def test_words_look_at_a_picture(screen):
    opened = screen("?lang=en&open=patches", lesson="cross")
    opened.wait_for_text("“roof” gives 49 % each to “red (no. 6)” and “red (no. 7)”")
    opened.type("Patches, row by row", "red green green blue")
    opened.wait_for_text("“roof” gives over 99 % of its attention to “red”")
    opened.type("Words", "sea 草地")
    opened.wait_for_text("“sea” gives over 99 % of its attention to “blue”")
