"""Practise by keyboard and mouse: cells are typed into and judged at once; a number of a wrong layer is opened."""

import pytest
from playwright.sync_api import expect

# Exercise 1 from q, k, v: Q −2 2/2 1/1 1, K −1 −1/2 0/1 2: q1 · k2 is −4, q2 · k2 is 4.


def test_cells_are_typed_into_one_after_the_other_and_judged_at_once(screen):
    opened = screen("?kind=from_qkv&stage=scores&lang=en", lesson="check")
    cell = opened.page.get_by_role("textbox", name="scores, 1, 2")
    cell.click()
    opened.page.keyboard.type("-4")
    opened.page.keyboard.press("Enter")  # leads to the cell below
    opened.wait_for_text("Of 9 numbers: 1 right, 8 still empty.")
    opened.page.keyboard.type("5")
    opened.page.keyboard.press("Enter")
    opened.wait_for_text("one number is wrong, at [2, 2]")
    opened.wait_for_text("Of 9 numbers: 1 right, 1 wrong because of a new slip, 7 still empty.")
    expect(opened.page.get_by_title("new slip")).to_have_count(1)
    opened.press("Step to work out", "scaled")
    opened.press("Step to work out", "scores (1 wrong)")
    opened.wait_for_text("1 wrong because of a new slip, 7 still empty.")
    assert opened.query()["scores"] == "? -4 ?; ? 5 ?; ? ? ?"


HOLD = """() => {
    const { send } = WebSocket.prototype, held = [];
    WebSocket.prototype.send = function (...message) { held.push(() => send.apply(this, message)) };
    window.letGo = () => {
        WebSocket.prototype.send = send;
        for (const tell of held) tell();
    };
}"""


@pytest.mark.slow
def test_numbers_typed_before_the_server_answers_stay(screen):
    opened = screen("?kind=from_qkv&stage=scores&lang=en", lesson="check")
    opened.page.get_by_role("textbox", name="scores, 1, 2").click()
    opened.page.evaluate(HOLD)
    for text in ("-4", "4"):  # two messages at once, of which Streamlit hands on the later
        opened.page.keyboard.type(text)
        opened.page.keyboard.press("Enter")
    opened.page.keyboard.type("2")
    opened.page.evaluate("() => letGo()")
    opened.wait_for_text("Of 9 numbers: 2 right, 7 still empty.")
    expect(opened.page.get_by_role("textbox", name="scores, 3, 2")).to_have_value("2")
    opened.page.keyboard.press("Enter")
    opened.wait_for_text("Of 9 numbers: 3 right, 6 still empty.")
    assert opened.query()["scores"] == "? -4 ?; ? 4 ?; ? 2 ?"


@pytest.mark.slow
def test_the_big_table_is_typed_into_and_a_written_number_opens(screen):
    opened = screen("?kind=from_qkv&stage=scores&lang=en", lesson="check")
    box = opened.page.get_by_role("textbox", name="scores, 1, 2")
    assert box.bounding_box()["height"] >= 44 and opened.page.get_by_text("Yours: scores").count() == 0
    box.click()
    opened.page.keyboard.type("-4")
    opened.page.keyboard.press("Enter")
    opened.wait_for_text("Of 9 numbers: 1 right, 8 still empty.")
    assert opened.page.get_by_text("Written: −4. Right.").count() == 0
    box.click()
    opened.wait_for_text("Written: −4. Right.")
    opened.press("Step to work out", "weights")
    expect(opened.page.get_by_text("Written: −4. Right.")).to_have_count(0)


@pytest.mark.slow
def test_a_key_after_a_click_into_a_picture_draws_no_ring_around_the_page(screen):
    opened = screen("?kind=from_qkv&stage=scores&lang=en", lesson="check")
    opened.click_cell("q [head 1, 1, 1]")
    opened.page.keyboard.press("x")
    page = opened.page.get_by_test_id("stMain")
    expect(page).to_be_focused()  # else there would be none to draw
    assert page.evaluate("page => getComputedStyle(page, '::before').content") == "none"


@pytest.mark.slow
def test_a_number_of_a_wrong_layer_is_opened_and_its_line_is_said(screen):
    opened = screen("?bug=3&lang=en", lesson="bugs")
    opened.click_cell("weights [head 1, it, dog]")
    opened.wait_for_text("From the same inputs, the intended line gives")
    opened.page.get_by_role("button", name="Line 9 has the bug").click()
    opened.wait_for_text("Found: line 9.")
    opened.wait_for_text("the softmax runs over the queries")


@pytest.mark.slow
def test_the_lines_of_the_code_are_walked_along_and_their_steps_stand_above_the_fold(screen):
    opened = screen("?bug=7&lang=en", lesson="bugs")
    opened.page.get_by_role("button", name="Line 9: look at weights").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        opened.page.keyboard.press(key)
    output = opened.page.get_by_role("button", name="Line 12: look at output")
    expect(output).to_have_attribute("aria-pressed", "true")
    expect(output).to_be_focused()
    last = opened.page.locator("path[aria-label*='output ['][aria-label*='noun']").last
    box = last.bounding_box()
    assert box["y"] + box["height"] <= 720
    lines = opened.page.locator(".lines").bounding_box()
    assert lines["x"] + lines["width"] <= box["x"] and lines["y"] + lines["height"] <= 720


@pytest.mark.slow
def test_the_map_stays_beside_the_code_however_far_one_scrolls(screen):
    opened = screen("?bug=8&guess=5&lang=en", lesson="bugs", viewport={"width": 1280, "height": 500})
    opened.wait_for_text("Weights without it")
    beside = opened.page.locator(".st-key-beside_code")
    opened.page.get_by_test_id("stMain").evaluate("page => page.scrollTo(0, 300)")
    assert 0 < beside.bounding_box()["y"] < 100


@pytest.mark.slow
def test_a_cell_to_type_in_lies_beside_its_row_and_marks_the_row_and_the_column_that_it_is_made_of(screen):
    opened = screen("?kind=from_qkv&stage=scores&lang=en", lesson="check")
    number = opened.page.get_by_role("textbox", name="scores, 3, 2")
    cell = number.bounding_box()
    above = opened.page.locator("path[aria-label*='k [head 1, 2, 1]']").first.bounding_box()
    left = opened.page.locator("path[aria-label*='q [head 1, 3, 1]']").first.bounding_box()
    assert abs(cell["y"] - left["y"]) < 3 and cell["x"] > above["x"] + above["width"]
    assert abs(cell["width"] - above["width"]) < 4 and cell["y"] + cell["height"] <= 720
    marks = {part: opened.page.locator(f".made.{part}") for part in ("row", "column")}
    assert [mark.is_visible() for mark in marks.values()] == [False, False]
    number.click()
    for mark, first in zip(marks.values(), (left, above), strict=True):
        box = mark.bounding_box()
        assert abs(box["x"] - first["x"]) < 3 and abs(box["y"] - first["y"]) < 3
    assert abs(marks["row"].bounding_box()["width"] - 2 * left["width"]) < 6  # d_k is 2
    opened.page.get_by_role("button", name="Show the right numbers").click()
    opened.wait_for_number("scores [head 1, 3, 3]", "3")


@pytest.mark.slow
def test_on_a_phone_the_table_stands_below_its_operands_which_are_seen_whole(screen):
    opened = screen("?kind=from_qkv&lang=en", lesson="check", viewport={"width": 390, "height": 800})
    cell = opened.page.get_by_role("textbox", name="scores, 1, 1").bounding_box()
    last = opened.page.locator("path[aria-label*='q [head 1, 3, 2]']").first.bounding_box()
    assert 0 < cell["y"] - last["y"] - last["height"] < 80
    right = opened.page.locator("path[aria-label*='k [head 1, 3, 2]']").first.bounding_box()
    assert right["x"] + right["width"] <= 390
    assert opened.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
