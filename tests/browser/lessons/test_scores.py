"""The lesson on scores in a real browser: a reader changes an input and sees what is stated."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_an_arrow_follows_the_hand_and_the_server_takes_it(screen):
    opened = screen("?lang=en&score=general", lesson="scores")
    tip = opened.page.locator(".match [data-place=k]")
    expect(tip).to_have_attribute("aria-valuetext", "1.00, 1.50")
    box, side = tip.bounding_box(), opened.page.locator(".match .plane").bounding_box()["width"] / 6
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.page.mouse.move(*middle)
    opened.page.mouse.down()
    opened.page.mouse.move(middle[0] - 2 * side, middle[1] + 0.5 * side)
    expect(opened.page.locator(".match .told")).to_contain_text("Wₐ first turns q into (0.50, 2.00)")
    expect(opened.page.locator(".match .chosen .much")).to_have_text("1.50")  # −1 · 0.5 + 1 · 2: no run yet
    assert "k" not in opened.query()
    opened.page.mouse.up()
    opened.wait_for_text("That is what Wₐ is for")
    assert opened.query()["k"] == "-1.0,1.0"
    tip.press("ArrowLeft")
    expect(opened.page.locator(".match .chosen .much")).to_have_text("1.45")


CHOOSE_WHILE_KEYS_REST = """root => {
    const rests = new Set(), { setTimeout: begin, clearTimeout: end } = window
    window.setTimeout = (act, ms, ...given) => {
        const timer = begin(act, ms, ...given)
        if (ms === 500) rests.add(timer)
        return timer
    }
    window.clearTimeout = timer => { rests.delete(timer); end(timer) }
    const press = new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true })
    root.querySelector("[data-place=k]").dispatchEvent(press)
    const before = rests.size
    root.querySelectorAll(".dial")[2].click()
    Object.assign(window, { setTimeout: begin, clearTimeout: end })
    return [before, rests.size]
}"""


def test_a_score_chosen_before_the_arrow_is_sent_takes_the_arrow_along(screen):
    opened = screen("?lang=en&score=general", lesson="scores")
    with opened.answered():
        waits = opened.page.locator(".match").evaluate(CHOOSE_WHILE_KEYS_REST)
    assert waits == [1, 0]  # the move is sent with the score: a later message could take the place of an earlier one
    opened.wait_for_sentence("Score: dot.")
    assert opened.query()["score"] == "dot"
    assert opened.query()["k"] == "0.9,1.5"
    expect(opened.page.locator(".match [data-place=k]")).to_have_attribute("aria-valuetext", "0.90, 1.50")


def test_predict_then_five_scores_stand_beside_each_other_and_the_link_keeps_it(screen):
    opened = screen("?lang=en", lesson="scores")
    assert opened.sentence().startswith("Score: scaled dot. Head 1: “it” gives 93 % of its attention to “dog”")
    assert opened.page.locator(".st-key-wide_scores_hero path[aria-label*='weights [head 1, it, dog]: ']").count() == 1
    opened.press("Predict: which score concentrates most on one word?", "dot")
    opened.wait_for_text("As predicted")
    opened.wait_for_number("weights [head 1, it, dog]", "0.336")  # cosine
    opened.wait_for_number("weights [head 1, it, dog]", "0.987")  # dot
    expect(
        opened.page.locator(".st-key-wide_scores_hero path[aria-label*='weights [head 1, it, dog]: ']")
    ).to_have_count(5)
    opened.press("Score", "additive")
    opened.wait_for_sentence("Score: additive. Head 1: “it” gives 90 % of its attention to “dog”")
    assert opened.query() == {"ex": "en_it", "lang": "en", "guess": "2", "score": "additive"}
    opened.type("Sentence", "Tom read and she laughed")
    opened.wait_for_sentence("“she” gives 92 % of its attention to “Tom”")


def test_a_number_opens_and_the_workbench_shows_this_run(screen):
    opened = screen("?lang=en&score=general&guess=2", lesson="scores")
    opened.click_cell("weights [head 1, it, dog]: 0.93")
    opened.page.locator(".arithmetic").wait_for()
    assert opened.arithmetic().startswith("exp(4.24)")
    assert opened.query()["cell"] == "hero,scaled_dot,weights,0,0,5,3"
    opened.page.get_by_role("button", name="Open in the workbench").first.click()
    opened.wait_for_picture()
    opened.wait_for_sentence("Head 1: “it” gives 99 % of its attention to “Anna”")
    assert opened.query() == {"lang": "en", "score": "general", "w_a": "0,1;1,0", "t": "5", "head": "0"}
    assert opened.errors == [] and opened.outside == []
