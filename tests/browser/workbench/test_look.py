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

    tab_to(".tile.chosen")
    for key in ("Home", "ArrowRight"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    opened.wait_for_sentence("Head 2: “fed” gives 93 % of its attention to “Anna”")
    tab_to("input[aria-label=Step]")
    opened.pick("output", "output")
    page.get_by_text("Choose a cell to see its arithmetic.").wait_for()
    tab_to("input[aria-label='Feature (D_out)']")
    opened.pick("noun", "noun")
    page.locator(".arithmetic .sum").wait_for()
    tab_to("summary")
    page.get_by_text("The code that ran").wait_for()


def test_the_canvas_is_walked_and_opened_by_keyboard(screen):
    opened = screen("?" + HUNDRED[1:])
    stage, read = opened.page.locator(".stage"), opened.page.locator(".read")
    stage.focus()
    for key in ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight"]:
        opened.page.keyboard.press(key)  # the first shows the first cell
    expect(read).to_contain_text("“the” (3) → “fed” (2): 0.01")
    opened.page.keyboard.press("Enter")
    opened.page.get_by_text("weights [head 1, the₃, fed₂] = 0.01").first.wait_for()


QUERIES = [
    "?ex=zh_ta&more=" + "%E5%B0%8F%E7%BA%A2%E5%96%82%E4%BA%86",
    "?ex=built_heads&step=scores&cell=0,1,3,2&wiring=residual&against=built%3Doffset:1",
    "?step=weights" + HUNDRED,
]


@pytest.mark.parametrize(("query", "language"), [*zip(QUERIES, ["zh", "zh", "en"], strict=True)])
def test_a_phone_in_the_dark_scrolls_up_and_down_alone(screen, query, language):
    look = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "reduced_motion": "reduce"}
    opened = screen(f"{query}&lang={language}", **look)
    opened.page.get_by_text("矩阵：" if language == "zh" else "Matrices: edit them").first.click()
    opened.page.get_by_test_id("stDataFrame").locator("canvas").first.wait_for()
    for place in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert opened.page.evaluate(f"() => {place}.scrollWidth") <= 390
    ground = opened.page.evaluate("() => getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 3 * 64
    assert opened.errors == []


def test_a_phone_shows_what_a_change_did(screen):
    opened = screen("?lang=en", viewport={"width": 390, "height": 844})
    opened.page.get_by_role("button", name="it → she").click()
    said = opened.page.get_by_text("Moved most:")
    said.wait_for()
    seen = """said => {
        said.scrollIntoView({ block: "center" });
        const { left, right, bottom } = said.getBoundingClientRect();
        return said.contains(document.elementFromPoint((left + right) / 2, bottom - 4));
    }"""
    assert said.evaluate(seen)


def test_without_motion_an_opened_step_is_there_at_once(screen):
    opened = screen("", reduced_motion="reduce")
    opened.page.evaluate(
        """() => {
            window.kinds = [];
            const into = Element.prototype.scrollIntoView;
            Element.prototype.scrollIntoView = function (how) {
                window.kinds.push(how?.behavior);
                into.call(this, how);
            };
        }"""
    )
    opened.strip().first.click()
    expect(opened.page.get_by_text("Choose a cell to see its arithmetic.")).to_be_in_viewport()
    opened.page.wait_for_function("() => window.kinds.includes('auto')")
    assert "smooth" not in opened.page.evaluate("() => window.kinds")
