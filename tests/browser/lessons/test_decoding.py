"""The lesson on decoding in a real browser: a reader changes an input and sees what is stated."""

import pytest

pytestmark = pytest.mark.slow


def test_projections_with_and_without_a_cache(screen):
    """KV cache: the keys that each step computes, on any sentence, and at any length."""
    opened = screen("?lang=en", lesson="decoding")
    assert opened.sentence() == "Step 6, “it”: with a cache it computes 1 key and reads 5; without one it computes 6."
    opened.type("Sentence", "Tom read and he laughed")
    opened.page.locator("path[aria-label*='key of “laughed”']").first.wait_for(state="attached")
    opened.wait_for_sentence("Step 5, “laughed”: with a cache it computes 1 key and reads 4")
    opened.slide("Step", "ArrowLeft")
    opened.wait_for_sentence("Step 4, “he”: with a cache it computes 1 key and reads 3; without one it computes 4.")
    again = opened.page.locator("path[aria-label*='step “he”, key of “Tom”: computed again']")
    again.first.wait_for(state="attached")
    opened.press("Predict: how many keys are computed without a cache?", "32,896")
    opened.wait_for_text("As predicted")
    opened.wait_for_text("keys were computed with a cache, and")
    opened.slide("Tokens written", "ArrowRight")
    opened.wait_for_text("524,800")
    kept = {"text": "Tom read and he laughed", "t": "3", "guess": "2", "length": "1024"}
    assert opened.query() == {"ex": "en_it_causal", "lang": "en", **kept}


def test_a_click_on_a_row_goes_to_its_step_and_a_number_opens(screen):
    opened = screen(lesson="decoding")
    opened.click_cell("step “dog”, key of “fed”: kept")
    opened.wait_for_sentence("Step 4, “dog”")
    opened.click_cell("weights [head 1, dog, fed]: 0.25")
    opened.page.locator(".arithmetic").wait_for()
    assert opened.arithmetic().startswith("exp(0.00)")
    opened.follow(0, "masked_scores [head 1, dog, fed]")


def test_step_by_step_equals_the_full_causal_pass(screen):
    """KV cache: each step's numbers are those of its row, on any sentence."""
    opened = screen("?open=same", lesson="decoding")
    found = opened.page.locator("path[aria-label*='weights [head 1, it, dog]: 0.945']")
    found.nth(2).wait_for(state="attached")  # among the step's bars, in the step alone and in the full pass
    opened.wait_for_text("Over all 7 steps the two differ by at most 0")
    opened.type("Sentence", "Tom read and he laughed")
    opened.wait_for_text("Over all 5 steps the two differ by at most 0")
    opened.slide("Step", "Home")
    opened.slide("Step", "ArrowRight", 3)
    opened.page.locator("path[aria-label*='weights [head 1, he, Tom]: 0.95']").nth(2).wait_for(state="attached")


def test_bytes_and_grouped_queries_shrink_them(screen):
    """KV cache: bytes with grouped queries, a window and a precision; the tensors of the reader's sentence agree."""
    opened = screen("?open=size", lesson="decoding")
    opened.wait_for_text("2 GiB")
    opened.wait_for_text("× (2 + 2) numbers × 2 bytes = 112. Its tensors hold")
    opened.press("Key/value heads for 32 query heads", "8: grouped")
    opened.wait_for_text("512 MiB")
    opened.wait_for_text("7 tokens kept × 1 key/value heads × (2 + 2) numbers × 2 bytes = 56")
    opened.press("Kept", "the last 1,024")
    opened.wait_for_text("128 MiB")
    opened.press("Precision", "float32")
    opened.wait_for_text("3 tokens kept × 1 key/value heads × (2 + 2) numbers × 4 bytes = 48")


def test_what_rope_and_alibi_do_to_a_cache(screen):
    opened = screen("?open=kept", lesson="decoding")
    opened.wait_for_number("k_cache [head 1, dog, 1]", "−1")
    opened.press("Positions", "RoPE")
    opened.wait_for_number("k_cache [head 1, dog, 1]", "0.848")
    opened.press("Positions", "ALiBi")
    opened.wait_for_number("biased_scores [head 1, it, dog]", "4.")
    opened.type("Sentence", "dog barked")
    opened.wait_for_number("k_cache [head 2, dog, 1]", "−1")
