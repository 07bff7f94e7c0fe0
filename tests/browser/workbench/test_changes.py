"""After a change the screen says what moved, shows the difference, and takes back; all else stays where it was.

A 3 of W_q set to 0 lets it → dog fall from .9328 to .6197 (see test_editing).
"""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

MOVED = "Biggest change: the weight of “dog” for “it” in head 1, 0.93 → 0.62 (−0.31)."
BEHIND_W_Q = ["X Wq", "Q", "scores", "scaled", "masked", "weights", "heads", "concat", "output"]
BEFORE = ["X", "X Wk", "K", "X Wv", "V"]
SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop"


def write_0(opened):
    """W_q[2][1]: 3 → 0, as text that is not taken yet; its box."""
    box = opened.page.get_by_role("textbox", name="w_q as text")
    expect(box).to_have_value(re.compile("\n3  -3  0"))
    box.fill(box.input_value().replace("3  -3  0", "0  -3  0", 1))
    return box


def take_a_3_away(opened) -> None:
    """W_q[2][1]: 3 → 0."""
    write_0(opened).press("Control+Enter")


@pytest.fixture
def edited(screen):
    """The first example with a 3 of W_q taken away."""
    opened = screen()
    opened.open_matrix("w_q")
    take_a_3_away(opened)
    opened.page.get_by_text(MOVED).wait_for()
    opened.settled()
    return opened


def printed(opened, chart: int, shape: str = "text") -> list[str]:
    """The texts of a picture."""
    texts = opened.page.locator("[data-testid=stVegaLiteChart]").nth(chart).locator(shape)
    return texts.evaluate_all("all => all.map(text => text.textContent)")


def test_the_steps_that_moved_are_marked_and_no_other(screen):
    opened = screen()
    opened.open_map()
    marked = opened.strip().filter(has_text="Δ")
    expect(marked).to_have_count(0)
    opened.open_matrix("w_q")
    take_a_3_away(opened)
    expect(marked).to_have_text([f"{name} Δ" for name in BEHIND_W_Q])
    expect(opened.strip().filter(has_not_text="Δ")).to_have_text(BEFORE)


def test_the_maps_turn_into_signed_differences_and_back(edited):
    switch = edited.page.get_by_text("Show the difference")
    switch.click()
    edited.wait_for_number("weights [head 1, it, dog]", "−0.3131")  # .6197 − .9328
    edited.page.get_by_text("(now − before)").first.wait_for()
    edited.settled()
    signed = [text for text in printed(edited, 0) if text[:1] in "+−" and text]
    # Anna .0089 − .0002; fed, the, and, it, barked 1 / 13.46 − 1 / 74.6 = .0743 − .0134
    assert sorted(signed[:7]) == sorted(["+0.01", *["+0.06"] * 5, "−0.31"])
    switch.click()
    edited.wait_for_number("weights [head 1, it, dog]", "0.619")
    expect(edited.page.locator("[data-testid=stVegaLiteChart]")).to_have_count(0)


def test_undo_and_redo_by_button_and_by_keyboard(edited):
    page = edited.page
    undo, redo = (page.get_by_role("button", name=name, exact=False).first for name in ("Undo", "Redo"))
    expect(redo).to_have_count(0)
    undo.click()
    edited.wait_for_number("weights [head 1, it, dog]", "0.932")
    expect(undo).to_be_disabled()
    place = undo.bounding_box()
    redo.click()
    edited.wait_for_number("weights [head 1, it, dog]", "0.619")
    assert undo.bounding_box() == place
    page.locator(".flow .stage").focus()
    page.keyboard.press("Control+z")
    edited.wait_for_number("weights [head 1, it, dog]", "0.932")
    page.keyboard.press("Control+Shift+z")
    edited.wait_for_number("weights [head 1, it, dog]", "0.619")


def test_in_a_text_the_keys_belong_to_the_text(edited):
    page, box = edited.page, edited.page.get_by_label("Sentence", exact=True)
    box.focus()
    page.keyboard.press("End")
    page.keyboard.type("s")
    expect(box).to_have_value("Anna fed the dog and it barkeds")
    page.keyboard.press("Control+z")
    expect(box).to_have_value("Anna fed the dog and it barked")
    page.locator(".flow .stage").focus()  # a rerun that the keys had caused would be under way by now
    edited.settled()
    assert edited.query()["w_q"] == "~1.0=0"
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    expect(page.get_by_role("button", name="Redo")).to_have_count(0)  # seen only while there is something to redo


FRAMES = (
    "() => new Promise(done => { let n = 0; const go = () => ++n < 20 ? requestAnimationFrame(go) : done(); go(); })"
)


def resting(box):
    """How far down the page a box stands, once what is above it has been drawn."""
    before, now = None, box.bounding_box()["y"]
    while now != before:
        box.page.evaluate(FRAMES)
        before, now = now, box.bounding_box()["y"]
    return now


def test_head_step_cell_and_place_on_the_page_stay(screen):
    opened = screen("?step=scores&cell=0,1,1,0")  # head 2: fed → Anna
    opened.sums().wait_for()
    opened.open_step_drawer()
    opened.open_matrix("w_q")
    box = write_0(opened)
    opened.settled()
    sum_before, sentence = opened.arithmetic(), opened.sentence()
    place = resting(box)
    scrolled = opened.page.evaluate(SCROLLED)
    assert scrolled > 50
    opened.page.keyboard.press("Control+Enter")
    opened.page.get_by_text(MOVED).wait_for(state="attached")
    opened.settled()
    expect(opened.page.get_by_role("combobox", name="Step")).to_have_value("scores")
    assert opened.arithmetic() == sum_before == "3.00 × 1.00 + (−3.00) × (−1.00) = 6.00"
    assert opened.sentence() == sentence
    assert opened.sentence().startswith("Head 2: “fed”")
    query = opened.query()
    assert (query["step"], query["cell"], query["head"]) == ("scores", "0,1,1,0", "1")
    assert opened.page.evaluate(SCROLLED) == pytest.approx(scrolled, abs=8)
    assert resting(box) == pytest.approx(place, abs=8)
