"""The lesson on query, key and value in a real browser: a reader changes an input and sees what is stated."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serving

pytestmark = pytest.mark.slow


def test_a_deep_link_as_the_first_request_of_a_fresh_process_restores_the_lesson_with_its_guess(screen):
    with serving() as address:
        opened = screen("?guess=3&open=roles&lang=en", lesson="qkv", address=address)
        opened.wait_for_text("As predicted")
        opened.wait_for_text("“it” asks: q = (−3.00, 3.00)")
        assert opened.sentence().startswith("Head 1: “it” gives 93 % of its attention to “dog”")
        assert opened.outside == [] and opened.errors == []


def test_predict_then_see_and_the_link_keeps_it(screen):
    opened = screen(lesson="qkv")
    assert opened.sentence().startswith("Head 1: “it” gives 31 % of its attention to “it”")
    assert opened.page.locator(".product sub").all_inner_texts() == [
        "q",
        "k",
        "v",
        "q",
    ]  # three tabs, one title
    assert opened.page.locator("path[aria-label*='weights [head 1, it, dog]: 0.93']").count() == 0
    opened.press("Predict: with W, which word gets the most?", "dog")
    opened.wait_for_number("weights [head 1, it, dog]", "0.93")
    opened.wait_for_text("As predicted")
    assert opened.query() == {"ex": "en_it", "guess": "3"}


def test_without_w_a_word_finds_only_itself_on_any_sentence(screen):
    opened = screen("?words=with", lesson="qkv")
    opened.type("Sentence", "Tom read and he laughed")
    opened.wait_for_sentence("“he” gives 95 % of its attention to “Tom”")
    bare = opened.page.locator("path[aria-label*='weights [head 1, he, he]: 0.4']")  # e/(e + 4) = .405, without W
    bare.first.wait_for(state="attached")


def test_without_matrices_a_layer_is_one_with_identity_matrices_and_scale_1(screen):
    """Simplified self-attention, no W, dot or cosine, beside the standard one: equal when W = I and the scale is 1."""
    same = "text=Anna+fed+the+dog&x=~3.0%3D2%3B3.1%3D1&t=3&heads=1&scale=1.0&lang=en"  # the dog is (2, 1, 0, 0)
    simple = screen(f"?{same}&" + "&".join(f"w_{name}=none" for name in "qkvo"))
    standard = screen(f"?{same}&" + "&".join(f"w_{name}=identity~" for name in "qkvo"))
    dot = simple.numbers("weights [head 1, dog,")
    assert len(dot) == 4 and standard.numbers("weights [head 1, dog,") == dot
    for opened in (simple, standard):
        opened.open_row("Score")
        opened.choose("Score", "cosine")
        opened.wait_for_others("weights [head 1, dog,", dot)
    cosine = simple.numbers("weights [head 1, dog,")
    assert standard.numbers("weights [head 1, dog,") == cosine
    own = float(cosine["weights [head 1, dog, dog]"])  # no cosine is above 1: its own is the largest
    assert own == max(map(float, cosine.values())) < float(dot["weights [head 1, dog, dog]"])


def test_a_number_opens_and_leads_back_to_the_input(screen):
    opened = screen("?words=with", lesson="qkv")
    opened.click_cell("weights [head 1, it, dog]: 0.93")
    opened.page.locator(".arithmetic").wait_for()
    assert opened.arithmetic().startswith("exp(4.24)")
    opened.follow(0, "scaled_scores [head 1, it, dog]")
    assert opened.query()["cell"] == "hero,projected,scaled_scores,0,0,5,3"


def test_the_workbench_shows_exactly_this_run(screen):
    opened = screen("?words=with", lesson="qkv")
    opened.type("Sentence", "Tom read and he laughed")
    opened.wait_for_sentence("“he” gives 95 %")
    opened.page.get_by_role("button", name="Open in the workbench").first.click()
    opened.wait_for_picture()
    opened.wait_for_sentence("“he” gives 95 % of its attention to “Tom”")
    assert opened.query() == {"text": "Tom read and he laughed", "t": "3"}
    opened.page.get_by_text("Learn", exact=True).click()
    opened.page.locator("a", has_text="Query, key, value").click()
    opened.wait_for_text("What does one word take from the others?")
    opened.wait_for_sentence("“he” gives 95 %")  # the lesson is as it was left


# Keeps every term that is marked, however short: it goes on to the next by itself.
TELL_TERMS = """product => {
    window.terms = [];
    const tell = () => window.terms.push(product.querySelector(".term.now")?.textContent ?? "");
    new MutationObserver(tell).observe(product, { childList: true, subtree: true });
}"""


def test_a_row_runs_along_its_column_term_by_term_above_the_fold(screen):
    opened = screen(lesson="qkv", viewport={"width": 1280, "height": 720})
    product = opened.page.locator(".product")
    result = product.get_by_role(
        "button", name="q 1 = 0.00 × 0.00 + (−1.00) × 3.00 + 0.00 × 0.00 + 0.00 × 0.00 = −3.00"
    )
    result.wait_for()
    box = product.bounding_box()
    assert box["y"] + box["height"] <= 720 and box["width"] >= 0.6 * 1280
    product.locator('.weight[data-term="1"][data-column="1"]').hover()
    expect(product.locator(".term.now")).to_have_text("(−1.00) × (−3.00)")
    expect(product.locator(".cell.now")).to_have_text(["−1.00pronoun", "−3.00"])
    result.focus()
    for term in ("0.00 × 0.00", "(−1.00) × 3.00"):
        opened.page.keyboard.press("ArrowDown")
        expect(product.locator(".term.now")).to_have_text(term)
    product.evaluate(TELL_TERMS)
    result.hover()
    opened.page.wait_for_function("() => window.terms.includes('(−1.00) × 3.00') && window.terms.at(-1) === ''")
    product.get_by_role("button", name="k = x Wk").click()
    expect(product.locator(".sum")).to_contain_text("k 1 =")
    assert opened.query() == {"ex": "en_it"}  # who only looks changes nothing
