"""The lesson on masks in a real browser: each row of the mechanisms about masks, with a reader's own input."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def draw(opened, *cells):
    """Draws over the mask from cell to cell, as a mouse does."""
    opened.settled()
    stage, mouse = opened.page.locator(".map .stage"), opened.page.mouse
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    places = [opened.place(*cell) for cell in cells]
    for number, place in enumerate(places):
        mouse.move(box["x"] + place["x"], box["y"] + place["y"])
        if number == 0:
            mouse.down()
    mouse.up()
    opened.settled()


def test_a_drawn_mask_comes_back_from_a_deep_link(screen):
    opened = screen("?mask=custom&paint=100,110,111&ex=en_it&text=Tom+fed+it&lang=en", lesson="masks")
    opened.wait_for_text("6 of 9")
    assert opened.outside == [] and opened.errors == []


def test_the_causal_mask_is_built_by_drawing(screen):
    """causal: before the softmax, j <= i, exact zeros after; the goal is reached when no word sees a later one."""
    opened = screen(lesson="masks")
    threads = opened.page.locator(".threads")
    expect(threads.get_by_label("it → dog: 95 %", exact=True)).to_be_attached()
    threads.get_by_role("button", name="the").first.hover()
    expect(threads.locator(".blocked")).to_have_text(["dog", "and", "it", "barked"])  # the future fades
    opened.press("Mask", "none")
    expect(threads.get_by_label("it → dog: 93 %", exact=True)).to_be_attached()
    opened.wait_for_text("Pairs that still look ahead: 21")
    for row in range(6):
        draw(opened, (row, row + 1), (row, 6))
    opened.wait_for_text("Built: the causal mask. “it” gives “dog” 0.945; without a mask 0.933.")
    expect(threads.get_by_label("it → dog: 95 %", exact=True)).to_be_attached()
    expect(threads.locator("path[aria-label^='it → barked']")).to_have_count(0)
    assert opened.query()["paint"] == "1000000,1100000,1110000,1111000,1111100,1111110,1111111"
    opened.type("Sentence", "Tom read and he laughed")
    opened.wait_for_sentence("“he” gives 96 % of its attention to “Tom”")
    opened.wait_for_text("15 of 25")


def test_only_the_masked_step_differs_from_the_unmasked_run(screen):
    """causal: only this step differs from the unmasked run."""
    opened = screen("?open=future&future=step", lesson="masks")
    opened.wait_for_text("in which 21 of 49 scores become −∞")
    opened.wait_for_number("masked_scores [head 1, it, barked]", "−∞")
    opened.press("Mask", "none")
    opened.wait_for_text("The mask above blocks nothing")


def test_no_leak_change_a_later_token(screen):
    """no leak: earlier outputs do not move by one bit; take the mask off and they do."""
    opened = screen("?open=future", lesson="masks")
    opened.wait_for_text("6 get another output without a mask, 0 with the mask above")
    opened.choose("Word that changes", "dog")
    opened.type("It becomes", "girl")
    opened.wait_for_text("Of the 3 words before it, 3 get another output without a mask, 0 with the mask above")
    opened.press("Mask", "local")
    opened.wait_for_text("3 get another output without a mask, 1 with the mask above")


def test_how_far_news_travels_in_several_layers(screen):
    opened = screen("?open=future&future=layers", lesson="masks")
    opened.wait_for_text("causal, local+global")
    opened.slide("Layers", "ArrowRight", 4)
    opened.wait_for_text("causal, local, sliding, local+global")
    opened.type("Sentence", "Tom read and he laughed and she smiled")
    opened.wait_for_text("“Tom” may have influenced “smiled” under these masks: causal, local+global")


def test_padding_batched_equals_one_by_one(screen):
    """padding, causal and padding: a batch of sentences of different lengths; batched equals one by one."""
    opened = screen("?open=pairs&pairs=batch", lesson="masks")
    opened.wait_for_text("Each sentence gets exactly the same numbers as on its own.")
    opened.wait_for_number("weights [sentence 2, head 1, barked, it]", "0.5")
    opened.type("Another sentence", "it barked and barked")
    opened.wait_for_number("weights [sentence 2, head 1, barked (no. 2), it]", "0.25")
    opened.page.get_by_text("Hide <pad>", exact=True).click()
    opened.wait_for_text("A sentence no longer gets the same numbers as on its own")
    opened.wait_for_number("weights [sentence 2, head 1, barked (no. 2), it]", "0.14")
    opened.page.get_by_text("Hide <pad>", exact=True).click()
    opened.press("Masks", "causal and padding")
    opened.wait_for_number("weights [sentence 1, head 1, it, dog]", "0.945461")
    opened.wait_for_text("Each sentence gets exactly the same numbers as on its own.")


def test_local_sliding_and_global_pairs_are_counted_and_no_work_is_saved(screen):
    """local window, sliding causal, global tokens: kept pairs counted; masking alone saves no work."""
    opened = screen("?open=pairs&mask=local", lesson="masks")
    opened.wait_for_text("19 of 49")
    opened.slide("Reach to each side", "ArrowRight")
    opened.wait_for_text("29 of 49")
    opened.press("Mask", "sliding")
    opened.slide("Keys, own included", "ArrowLeft")
    opened.wait_for_text("13 of 49")
    opened.press("Mask", "local+global")
    opened.choose("Global word", "dog")
    opened.slide("Reach to each side", "Home")
    opened.wait_for_text("19 of 49")
    opened.wait_for_text("840 without a mask, 840 with the mask above")
    opened.slide("Longer sequences: tokens", "End")
    opened.wait_for_text("1,534")
    opened.slide("Window: reach in words", "ArrowRight")
    opened.wait_for_text("2,554")  # 512 + 2 x 511 + 2 x 510


def test_a_fully_masked_row_in_five_treatments(screen):
    """fully masked row: weights 0, output 0; what NaN, -1e9 filled and -1e9 added give instead, on a drawn mask."""
    opened = screen("?mask=none&open=nothing", lesson="masks")
    draw(opened, (1, 0), (1, 6))
    opened.wait_for_text("“fed” may not attend to any word. In 3 of five ways to block a row")
    labels = "path[aria-label*='weights [head 1, fed, dog]: {}']"
    for number in ("0", "NaN", "0.14"):
        opened.page.locator(labels.format(number)).first.wait_for(state="attached")
    opened.wait_for_text("In 3 of five ways to block a row, blocked words still get a share; in 1 the result is NaN")
    opened.press("Precision", "float16")
    opened.wait_for_text("In 1 of five ways to block a row, blocked words still get a share; in 3 the result is NaN")


def test_two_conventions_side_by_side(screen):
    """two conventions: True = attend and True = blocked side by side; the silent damage when they are swapped."""
    opened = screen("?open=nothing&nothing=conventions", lesson="masks")
    opened.wait_for_text(
        "98 of 98 pairs (all heads) are blocked instead of allowed, or allowed instead of blocked. 98 weights are wrong"
    )
    opened.wait_for_text("(largest difference 0), with NaN in 2 of 14 rows")
    opened.wait_for_number("weights [head 1, it, barked]", "1")
    opened.type("Sentence", "Tom read and he laughed")
    opened.wait_for_text("50 of 50 pairs (all heads) are blocked instead of allowed")
    opened.wait_for_number("weights [head 1, he, laughed]", "1")


def test_an_axis_in_the_wrong_place_is_silent_or_refused(screen):
    """two conventions: a 2-D mask with the heads axis added in the wrong place."""
    opened = screen("?open=nothing&nothing=axes", lesson="masks")
    opened.wait_for_text(
        "112 of 343 pairs are blocked instead of allowed, or allowed instead of blocked. 224 weights are wrong"
    )
    opened.slide("Heads", "ArrowLeft")
    opened.wait_for_text("Here torch raises an error, because 7 words do not fit 6 heads")
    opened.type("Sentence", "the girl fed it and she")
    opened.wait_for_text("70 of 216 pairs are blocked instead of allowed")


def test_encoder_decoder_and_masked_words(screen):
    """decoder, encoder, MLM: causal self then cross; bidirectional; hidden tokens are not an attention mask."""
    opened = screen("?open=wirings", lesson="masks")
    opened.wait_for_text("Encoder (BERT): no mask, 49 of 49 pairs")
    opened.press("Look at", "decoder")
    opened.wait_for_text("causal attention to its own words (15 of 25 pairs)")
    opened.type("Encoder's words", "我看见一只猫")
    opened.wait_for_text("all words of the other sentence (20 of 20)")
    opened.wait_for_number("weights [head 1, cat, 猫]", "0.9")
    opened.press("Look at", "masked words")
    opened.wait_for_number("weights [head 1, it, [MASK]]", "0.166")  # nothing is known of it: even but for Anna, 1/6
    opened.choose("Hidden word", "Anna")
    opened.wait_for_text("“Anna” is hidden as in BERT's training")
    opened.wait_for_number("weights [head 1, it, Anna]", "0")


def test_what_asks_nothing_rests_on_the_first_token(screen):
    """encoder: why so much goes to the first token."""
    opened = screen("?open=wirings&wiring=first", lesson="masks")
    opened.wait_for_text("7 of 8 words attend most to “<s>”; “barked” gives it 0.71")
    opened.type("Sentence with a start token", "<s>|he|read")
    opened.wait_for_text("3 of 3 words attend most to “<s>”")


def test_the_workbench_shows_exactly_the_drawn_mask(screen):
    opened = screen("?mask=none", lesson="masks")
    draw(opened, (5, 3), (5, 3))
    expect(opened.page.locator(".threads path[aria-label^='it → dog']")).to_have_count(0)
    opened.page.get_by_role("button", name="Open in the workbench").first.click()
    opened.wait_for_picture()
    opened.wait_for_number("weights [head 1, it, dog]", "0")
    assert opened.query()["t"] == "5" and opened.query()["allowed"].count("0") == 1
