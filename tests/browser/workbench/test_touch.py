"""The picture by a finger, on a phone: a word is held, a share is tapped, the bar is swiped."""

import pytest
from playwright.sync_api import expect

from pages.site.words import load_app_texts
from tests.browser.conftest import wait_for_flow

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# how strongly each word and each ribbon is drawn
STRENGTHS = """(root) => ["texts word", "ribbons ribbon", "cells scaled_scores"].map((kind) => {
    const { made } = root.flow.picture.shapes;
    return [0, 1, 2, 3, 4, 5, 6].map((row) => Number(made.get(`${kind} ${row}`).attributes.opacity));
})"""

# texts in the picture with letters under 11 px
SMALL_TEXTS = """root => [...root.querySelectorAll("svg text, mi, mo, mn, mtext")].filter((text) =>
    text.textContent.trim() && text.checkVisibility() && parseFloat(getComputedStyle(text).fontSize) < 11)
    .map((text) => text.textContent)"""


@pytest.fixture
def phone(screen):
    """The workbench on a phone, the picture in sight, and what sends a finger's down, move and up."""
    opened = screen("?ex=en_it&lang=en", **PHONE)
    opened.page.locator(".flow .stage").scroll_into_view_if_needed()
    channel = opened.page.context.new_cdp_session(opened.page)

    def finger(kind: str, *at: float) -> None:
        points = [dict(zip("xy", at, strict=True))] if at else []
        channel.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    return opened, finger


def middle(shape) -> tuple[float, float]:
    box = shape.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_word_that_is_held_leaves_its_threads_alone_and_is_not_chosen(phone):
    opened, finger = phone
    flow = opened.page.locator(".flow")
    at_rest = flow.evaluate(STRENGTHS)
    finger("Start", *middle(opened.drawn("hits word 3")))
    opened.page.wait_for_function("root => root.flow.hands.row === 3", arg=flow.element_handle())
    opened.page.wait_for_timeout(50)  # a frame
    words, ribbons, bars = flow.evaluate(STRENGTHS)
    assert words == [0.28, 0.28, 0.28, 1, 0.28, 1, 0.28]  # "dog", and "it", which asks
    assert ribbons[3] == at_rest[1][3] and all(ribbons[row] <= 0.1 for row in (0, 1, 2, 4, 5, 6))
    assert bars == [0.1, 0.1, 0.1, 1, 0.1, 0.1, 0.1]
    finger("End")
    opened.page.wait_for_function("root => root.flow.hands.row === null", arg=flow.element_handle())
    expect(flow.locator(".headline")).to_have_text("it attends to dog, 93 %")  # it still asks
    expect(flow.locator(".panel")).to_be_hidden()


def test_a_tap_on_a_word_lets_it_ask_and_a_tap_on_a_share_opens_its_sum(phone):
    opened, _ = phone
    share = middle(opened.drawn("shares share 3"))
    with opened.answered():
        opened.page.touchscreen.tap(*share)
    assert opened.arithmetic().split("\n")[:3] == [
        "exp(4.24) / (",
        "exp(−4.24)",
        " + exp(0.00)",
    ]  # a line for each term
    panel = opened.page.locator(".flow .panel")
    expect(panel.locator(".result")).to_have_text("0.93")
    for part in (panel.locator(".result"), panel.locator(".line").last):  # nothing of it is cut
        expect(part).to_be_in_viewport(ratio=1)
    box = panel.bounding_box()
    assert box["x"] == 0 and box["width"] == 390 and box["y"] > 844 / 3
    panel.locator(".fold").click()
    expect(panel).to_be_hidden()
    flow = opened.page.locator(".flow")
    for stop in range(flow.evaluate("root => root.flow.snapshot.stops.length") + 1):
        flow.evaluate("(root, stop) => root.flow.journey.scrub(stop)", stop)
        wait_for_flow(opened.page, "(flow) => flow.frame === null")
        assert flow.evaluate(SMALL_TEXTS) == [], stop
    with opened.answered():
        opened.page.touchscreen.tap(*middle(opened.drawn("hits word 0")))
    opened.wait_for_sentence("“Anna” attends evenly")


def test_a_swipe_along_the_bar_scrubs_and_does_not_scroll(phone):
    opened, finger = phone
    flow, track = opened.page.locator(".flow"), opened.page.locator(".flow .track")
    track.scroll_into_view_if_needed()
    box = track.bounding_box()
    scrolled = "() => document.querySelector('[data-testid=stMain]').scrollTop"
    before, y = opened.page.evaluate(scrolled), box["y"] + box["height"] / 2
    places = []
    finger("Start", box["x"] + box["width"] - 2, y)
    for share in (0.8, 0.5, 0.2):
        at = flow.evaluate("root => root.flow.progress")
        finger("Move", box["x"] + share * box["width"], y + 30 * (1 - share))  # a finger does not go straight
        wait_for_flow(opened.page, "(flow, before) => flow.progress !== before", at)
        places.append(flow.evaluate("root => root.flow.progress"))
    finger("End")
    stops = flow.evaluate("root => root.flow.snapshot.stops.length")
    assert stops > places[0] > places[1] > places[2] > 0
    assert flow.evaluate("root => root.flow.progress") == places[2]
    assert opened.page.evaluate(scrolled) == before


# ---- what lies around the picture ------------------------------------------------------------------------------------
def test_a_panel_opens_above_the_picture_and_leaves_the_picture_in_sight(phone):
    opened, _ = phone
    opened.page.get_by_role("radio", name="Matrices").tap()
    panel = opened.page.locator(".st-key-side")
    expect(panel.get_by_text("w_q").first).to_be_in_viewport()
    expect(opened.page.locator(".flow .headline")).to_be_in_viewport()
    assert panel.bounding_box()["y"] < opened.page.locator(".flow").bounding_box()["y"]


def test_the_tools_stay_on_one_line_when_a_scene_is_added(phone):
    opened, _ = phone
    opened.page.locator(".st-key-add_scene button").tap()
    expect(opened.page.locator(".st-key-desk_add_scene button")).to_be_in_viewport()
    expect(opened.page.locator(".st-key-other_language button")).to_be_in_viewport(ratio=1)


def test_the_menu_closes_when_a_page_is_chosen(phone):
    opened, _ = phone
    opened.page.get_by_test_id("stExpandSidebarButton").tap()
    link = opened.page.get_by_test_id("stSidebarNavLink").filter(has_text="Check your work")
    link.tap()
    opened.page.wait_for_url("**/check*")
    expect(link).not_to_be_in_viewport()


def test_a_tooltip_closes_when_the_page_is_scrolled_by_touch(screen):
    opened = screen("?ex=model_en&lang=en", **PHONE)
    opened.page.locator("[data-testid=stTooltipIcon]:visible").first.tap()
    tooltip = opened.page.get_by_test_id("stTooltipContent")
    expect(tooltip).to_be_visible()
    channel = opened.page.context.new_cdp_session(opened.page)
    for kind, points in (("Start", [(195, 620)]), ("Move", [(195, 580)]), ("Move", [(195, 500)]), ("End", [])):
        at = [dict(zip("xy", point, strict=True)) for point in points]
        channel.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": at})
    expect(tooltip).to_have_count(0)


def test_the_proof_of_the_causal_mask_and_a_warning_are_seen_whole(screen):
    opened = screen("?ex=en_it&mask=causal&lang=en", **PHONE)
    proof = opened.page.get_by_text("Nothing leaks: proof")
    expect(proof).to_be_in_viewport(ratio=1)
    box, more = proof.bounding_box(), opened.page.locator(".st-key-settings > .st-key-more").bounding_box()
    assert box["y"] >= more["y"] + more["height"] - 1 or box["x"] + box["width"] <= more["x"]
    guessed = "?ex=model_en&lang=en&text=the+wombat+saw+the+quokka+because+it+was+purple"
    page = screen(guessed, **PHONE).page
    warning = page.get_by_test_id("stAlert").filter(has_text="The model guesses here")
    assert warning.bounding_box()["width"] >= 390 - 2 * 16
    link = page.get_by_text("Open a model of your own")
    assert link.bounding_box()["y"] > warning.bounding_box()["y"] + warning.bounding_box()["height"]


def test_a_number_of_a_table_stands_on_one_line(screen):
    page = screen("?ex=en_it&dtype=float32&lang=en", **PHONE).page
    page.get_by_text("checked").first.click()
    number = page.locator("td").filter(has_text="e-16").first
    expect(number).to_be_visible()
    page.add_style_tag(content="td { max-width: 4em; overflow-wrap: anywhere }")  # as narrow as a table may be
    lines = """cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    }"""
    assert number.evaluate(lines) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_touch_on_the_sentence_selects_it_and_done_applies_what_is_typed(screen, language):
    words = load_app_texts(language)
    opened = screen(f"?ex=en_it&lang={language}", **PHONE)
    box = opened.page.get_by_label(words["control.text"], exact=True)
    box.tap()
    assert box.evaluate("box => box.value.slice(box.selectionStart, box.selectionEnd)") == box.input_value() != ""
    opened.page.keyboard.insert_text("Tom fed the girl")
    done = opened.page.get_by_test_id("InputInstructions")
    written = done.locator("span").first.evaluate("each => getComputedStyle(each, '::after').content")
    assert written == f'"{words["streamlit.done"]}"'
    with opened.answered():
        done.tap()
    assert opened.query()["text"] == "Tom fed the girl"
