"""The flow by keyboard alone: every number that is drawn is reached, named, opened and left."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

FOCUSED = """() => {
    let found = document.activeElement;
    while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
    return found.getAttribute("aria-label") ?? found.className;
}"""
RING = """root => [...root.querySelectorAll("rect.ring.pointed")].filter(ring => ring.checkVisibility()).map(ring => {
    const { left, right, top, bottom } = ring.getBoundingClientRect();
    const cell = root.getRootNode().activeElement.getBoundingClientRect();
    const isRound = left < cell.left && right > cell.right && top < cell.top && bottom > cell.bottom;
    return [getComputedStyle(ring).stroke, isRound];
})"""


def walk(opened, *keys: str) -> str:
    """Presses keys; gives the name of what then has them."""
    for key in keys:
        opened.page.keyboard.press(key)
    return opened.page.evaluate(FOCUSED)


def test_a_score_and_a_keys_number_are_reached_opened_followed_and_left(screen):
    opened = screen("?ex=en_it&lang=en")
    flow = opened.page.locator(".flow")
    flow.locator(".stage").focus()
    assert walk(opened, "n") == "weights, it, dog: 93 %. Enter: its sum."
    assert walk(opened, "ArrowLeft", "ArrowLeft") == "scores, it, dog: 6.00. Enter: its sum."
    amber = flow.evaluate("root => root.flow.data.palette.outline")
    expect(flow.locator("text.carried")).to_have_text("6.00")
    ring = "rgb({}, {}, {})".format(*(int(amber[place : place + 2], 16) for place in (1, 3, 5)))
    assert flow.evaluate(RING) == [[ring, True]]
    with opened.answered():
        opened.page.keyboard.press("Enter")
    assert opened.arithmetic() == "−3.00 × (−1.00) + 3.00 × 1.00 = 6.00"
    assert walk(opened, "Tab").startswith("−3.00: q [head 1, it, 1]")
    with opened.answered():
        opened.page.keyboard.press("Enter")
    expect(flow.locator(".panel .where")).to_contain_text("q [head 1, it, 1]")
    assert walk(opened, "Escape").startswith("Q, it, 1: −3.00.")  # the sum is folded, and the keys are at its cell
    expect(flow.locator(".panel")).to_be_hidden()
    assert walk(opened, "Escape").startswith(opened.page.locator(".flow .stage").get_attribute("aria-label")[:20])
    assert walk(opened, "N", *["ArrowLeft"] * 4) == "K, dog, 1: −1.00. Enter: its sum."
    with opened.answered():
        opened.page.keyboard.press("Enter")
    expect(flow.locator(".panel .where")).to_contain_text("k [head 1, dog, 1]")


def test_arrows_go_along_a_row_down_a_column_and_through_the_lane(screen):
    opened = screen("?ex=en_it&lang=en")
    opened.page.locator(".flow .stage").focus()
    assert walk(opened, "n", "ArrowRight", "ArrowRight").startswith("V, dog, 2: ")
    assert walk(opened, "ArrowDown").startswith("V, and, 2: ")
    assert walk(opened, "ArrowRight").startswith("heads, it, 1: ")  # the row ends in the lane
    assert walk(opened, "ArrowLeft").startswith("Q, it, 2: ")
    assert walk(opened, "ArrowUp").startswith("K, it, 2: ")
    assert walk(opened, "ArrowDown", "ArrowDown").startswith("K, barked, 2: ")  # past the lane


AT_ONCE = """stage => {
    for (const key of ["ArrowRight", "ArrowRight", "n"])
        stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true }));
}"""


def test_on_the_way_the_keys_begin_at_what_the_stop_makes(screen):
    opened = screen("?ex=en_it&lang=en")
    stage = opened.page.locator(".flow .stage")
    stage.focus()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        opened.page.keyboard.press(key)
    opened.page.wait_for_function("root => root.flow.progress === 2", arg=opened.page.locator(".flow").element_handle())
    assert walk(opened, "n").startswith("scores, it, dog: 6.00.")


def test_keys_that_come_within_one_frame_begin_there_too(screen):
    opened = screen("?ex=en_it&lang=en")
    stage = opened.page.locator(".flow .stage")
    stage.press("Home")
    flow = opened.page.locator(".flow").element_handle()
    opened.page.wait_for_function("({ flow }) => flow.progress === 0 && flow.frame === null", arg=flow)
    stage.evaluate(AT_ONCE)
    assert walk(opened).startswith("scores, it, dog: 6.00.")


@pytest.mark.parametrize(("lang", "says"), [("en", "N: number by number"), ("zh", "N 键：逐个查看各个数")])
def test_the_keys_are_told(screen, lang, says):
    assert says in screen(f"?ex=en_it&lang={lang}").page.locator(".flow .stage").get_attribute("aria-label")
