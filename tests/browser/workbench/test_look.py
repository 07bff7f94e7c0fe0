"""The workbench by keyboard alone, on a phone, in Chinese, on a dark screen and without motion."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

FOCUSED = """selector => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at?.matches(selector) ?? false;
}"""
FRAME = "() => new Promise(requestAnimationFrame)"
HUNDRED = "&text=" + "+".join(["Anna", "fed", "the", "dog", "it"] * 20)


def test_a_visit_by_keyboard_alone(screen):
    opened = screen()
    page = opened.page

    def tab_to(selector: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate(FOCUSED, selector):
                return
        raise AssertionError(f"{selector} is not reached with Tab")

    tab_to(".stage")
    page.keyboard.press("ArrowUp")
    opened.wait_for_sentence("Head 1: “and” attends evenly")
    page.keyboard.press("ArrowDown")
    opened.wait_for_sentence("Head 1: “it” gives 93 % of its attention to “dog”")
    opened.settled()
    page.keyboard.press("Enter")
    opened.sums().wait_for()
    tab_to(".operand")
    page.keyboard.press("Enter")
    page.get_by_text("scaled_scores [head 1, it, dog] = ").first.wait_for()
    page.keyboard.press("Escape")
    expect(opened.sums().first).to_be_hidden()
    tab_to(".st-key-step_drawer summary")
    page.keyboard.press("Enter")
    page.locator("input[aria-label=Step]").wait_for()
    opened.settled()
    tab_to("input[aria-label=Step]")
    opened.pick("output", "output")
    tab_to("input[aria-label='Feature (D_out)']")
    opened.pick("noun", "noun")
    opened.sums().wait_for()
    tab_to(".st-key-code summary")
    page.get_by_text("The code that ran").wait_for()


def test_the_canvas_is_walked_and_opened_by_keyboard(screen):
    opened = screen("?step=weights" + HUNDRED)
    stage, read = opened.page.locator(".map .stage"), opened.page.locator(".read")
    stage.focus()
    for key in ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight"]:
        opened.page.keyboard.press(key)  # the first shows the first cell
    expect(read).to_contain_text("“the” (3) → “fed” (2): 0.01")
    opened.page.keyboard.press("Enter")
    opened.page.get_by_text("weights [head 1, the #3, fed #2] = 0.01").first.wait_for()


QUERIES = [
    "?ex=zh_ta&more=" + "%E5%B0%8F%E7%BA%A2%E5%96%82%E4%BA%86",
    "?ex=built_heads&step=scores&cell=0,1,3,2&wiring=residual&against=built%3Doffset:1",
    "?step=weights" + HUNDRED,
]


@pytest.mark.parametrize(("query", "language"), [*zip(QUERIES, ["zh", "zh", "en"], strict=True)])
def test_a_phone_in_the_dark_scrolls_up_and_down_alone(screen, query, language):
    look = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "reduced_motion": "reduce"}
    opened = screen(f"{query}&lang={language}", **look)
    fold = opened.page.locator(".flow .panel.sheet .fold")
    if fold.is_visible():  # a sum that the link opens lies over the lower half of the screen
        fold.click()
    opened.open_way("矩阵" if language == "zh" else "Matrices")
    opened.page.get_by_test_id("stDataFrame").locator("canvas").first.wait_for()
    for place in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert opened.page.evaluate(f"() => {place}.scrollWidth") <= 390
    ground = opened.page.evaluate("() => getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 3 * 64
    assert opened.errors == []


def test_a_phone_shows_what_a_change_did(screen):
    opened = screen("?lang=en", viewport={"width": 390, "height": 844})
    opened.page.get_by_role("button", name="Try “she” for “it”").click()
    said = opened.page.get_by_text("Biggest change:")
    said.wait_for()
    seen = """said => {
        said.scrollIntoView({ block: "center" });
        const { left, right, bottom } = said.getBoundingClientRect();
        return said.contains(document.elementFromPoint((left + right) / 2, bottom - 4));
    }"""
    assert said.evaluate(seen)


def test_without_motion_every_state_is_there_at_once(screen):
    opened = screen("", reduced_motion="reduce")
    flow = opened.page.locator(".flow").element_handle()
    opened.page.locator(".flow .stage").focus()
    opened.page.keyboard.press("Home")
    opened.page.keyboard.press("ArrowRight")
    assert opened.page.evaluate("root => root.flow.progress", flow) == 1
    opened.open_map()
    opened.page.evaluate(FRAME)
    assert opened.page.evaluate("root => root.flow.opened", flow) == 1


LATE_CHANNEL = """root => {
    const shared = window[Symbol.for("attention")];
    const [channel, told] = [[shared.look, shared.tellServer], []];
    delete shared.look;
    delete shared.tellServer;
    const other = new root.flow.constructor(document.body.appendChild(document.createElement("div")));
    other.show({ ...root.flow.data, digest: "another" });
    other.lookAt({ view: "map" });
    other.exchange.tell("looked", other.exchange.looked());
    const before = told.length;
    [shared.look, shared.tellServer] = [channel[0], (name, value) => told.push([name, value.step])];
    window.dispatchEvent(new CustomEvent("flow-look", { detail: channel[0] }));
    shared.tellServer = channel[1];
    other.root.remove();
    return [before, told, other.look.view];
}"""


def test_a_map_that_is_opened_before_the_channel_to_the_server_is_there_stays_open(screen):
    opened = screen()
    before, told, view = opened.page.locator(".flow").evaluate(LATE_CHANNEL)
    assert (before, told, view) == (0, [["looked", "weights"]], "map")


SAID_AGAIN = """root => {
    const before = root.querySelector(".panel .operand");
    root.flow.exchange.obey(window[Symbol.for("attention")].look);
    return before !== null && before === root.querySelector(".panel .operand");
}"""


def test_a_sum_that_is_said_again_stays_under_the_hand(screen):
    opened = screen()
    opened.click_drawn("shares share 3")
    opened.sums().wait_for()
    assert opened.page.locator(".flow").evaluate(SAID_AGAIN)
