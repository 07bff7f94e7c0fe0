"""The lesson on decoding in a real browser: a few words are played, and the counters read; drawers answer."""

import pytest

pytestmark = pytest.mark.slow


def counters(page):
    """The numbers beside the shelves, from above."""
    return page.locator(".shelves .count .number").all_inner_texts()


def test_words_are_played_and_counted_in_the_browser(screen):
    """Each word adds one key with a cache, and all keys again without; no step asks the server until it settles."""
    opened = screen("?lang=en&t=0", lesson="decoding")
    page = opened.page
    assert counters(page)[:2] == ["6", "6"]
    assert page.locator(".shelves .layer").first.locator(".grid .k:not(:disabled)").count() == 6
    bands = page.locator(".shelves .grid .k:not(:disabled)").first.evaluate(
        "key => getComputedStyle(key).backgroundImage"
    )
    assert bands.startswith("linear-gradient")  # a number of its key each
    asked = []
    opened.socket.on("framesent", lambda frame: asked.append(frame))
    page.get_by_role("button", name="▶ Play").click()
    page.locator(".shelves .word.now", has_text="lake").wait_for()
    assert asked == []
    with opened.answered():
        page.get_by_role("button", name="❚❚ Pause").click()
    seen = page.locator(".shelves .layer").last.locator(".grid .k:not(:disabled)").count()
    again = sum(range(6, seen + 1))
    assert seen >= 8 and counters(page)[:2] == [str(seen), str(again)]
    assert opened.query()["t"] == str(seen - 6)
    with opened.answered():
        page.get_by_role("button", name="Next word").press("ArrowLeft")  # by keyboard, back
    assert counters(page)[0] == str(seen - 1) and opened.query()["t"] == str(seen - 7)
    assert opened.errors == []


def test_without_the_cache_every_key_is_computed_again_and_a_kept_one_opens(screen):
    opened = screen("?lang=en", lesson="decoding")
    page = opened.page
    layer = page.locator(".shelves .layer").nth(1)
    assert layer.locator(".grid .k.now").count() == 1
    page.get_by_role("button", name="without it").click()
    assert layer.locator(".grid .k.now").count() == 10
    opened.wait_for_text("all 10 tokens are run again: 10 keys, 9 of them unchanged")
    with opened.answered():
        layer.get_by_role("button", name="key of “dog”").click()
    opened.wait_for_text("layer 2, attention")
    opened.page.locator(".arithmetic").wait_for()


def test_a_text_of_ones_own_is_written_on(screen):
    opened = screen("?lang=en", lesson="decoding")
    opened.type("The beginning", "anna gave the")
    opened.page.locator(".shelves .word.written", has_text="permission").first.wait_for()


def test_bytes_and_grouped_queries_shrink_them(screen):
    """KV cache: bytes with grouped queries, a window and a precision; the tensors of the text agree."""
    opened = screen("?open=size", lesson="decoding")
    opened.wait_for_text("2 GiB")
    opened.wait_for_text("× (16 + 16) numbers × 2 bytes = 3584. The cache's tensors hold")
    opened.press("Key/value heads for 32 query heads", "8: grouped")
    opened.wait_for_text("512 MiB")
    opened.press("Kept", "the last 1,024")
    opened.wait_for_text("128 MiB")
    opened.press("Precision", "float32")
    opened.wait_for_text("3 tokens kept × 1 key/value head × (16 + 16) numbers × 4 bytes = 384")


def test_what_rope_and_alibi_do_to_a_cache(screen):
    opened = screen("?open=kept", lesson="decoding")
    opened.wait_for_number("k_cache [head 1, dog, 1]", "−1")
    opened.press("Positions", "RoPE")
    opened.wait_for_number("k_cache [head 1, dog, 1]", "0.848")
    opened.press("Positions", "ALiBi")
    opened.wait_for_number("biased_scores [head 1, it, dog]", "4.")
