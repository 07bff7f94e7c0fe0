"""How many acts each wish takes from a fresh first screen: a click, a typed text, a key or a scroll is one act.

Everything is done by mouse and keyboard at 1280 x 720, on what is in the window.
"""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

MOST_CONTROLS = 36
# Every control in the window, also inside components: buttons, inputs, selects, sliders and links.
CONTROLS_IN_SIGHT = """() => {
    const inSight = ({ width, height, top, bottom, left, right }) =>
        width > 3 && height > 3 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    const found = new Set();
    const walk = (root) => {
        for (const each of root.querySelectorAll("*")) {
            if (each.shadowRoot) walk(each.shadowRoot);
            const { visibility, display, opacity } = getComputedStyle(each);
            if (visibility === "hidden" || display === "none" || Number(opacity) === 0) continue;
            if (!inSight(each.getBoundingClientRect())) continue;
            if (each.matches("button, input, select, textarea, [role=slider], [role=combobox], a[href]"))
                found.add(each);
        }
    };
    walk(document);
    return found.size;
}"""


class Hand:
    """A hand on mouse and keyboard that counts what it does."""

    def __init__(self, opened):
        self.opened, self.page, self.acts = opened, opened.page, 0

    def begin(self, query: str = "?lang=en") -> None:
        """Opens a fresh first screen."""
        self.opened.open(query)
        self.acts = 0

    def click(self, place, times: int = 1) -> None:
        """Clicks the middle of what is in the window; a double click is one act."""
        expect(place).to_be_in_viewport(ratio=0.9)
        box = place.bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, click_count=times)
        self.acts += 1

    def type(self, text: str) -> None:
        """Types a text where the focus is."""
        self.page.keyboard.type(text)
        self.acts += 1

    def press(self, key: str) -> None:
        """Presses a key."""
        self.page.keyboard.press(key)
        self.acts += 1

    def named(self, role: str, name: str):
        """The control of this role and name."""
        return self.page.get_by_role(role, name=name, exact=True).first

    def toggle(self, key: str):
        """The switch with this key."""
        return self.page.locator(f".st-key-{key} label").first


def test_the_first_screen_has_few_controls_and_each_wish_takes_few_acts(screen):
    opened = screen("?lang=en")
    hand, page = Hand(opened), opened.page
    assert page.evaluate(CONTROLS_IN_SIGHT) <= MOST_CONTROLS

    hand.begin()
    hand.click(page.get_by_label("Sentence", exact=True))
    hand.type("Tom read and then he laughed")
    opened.wait_for_sentence("“he” gives 93 % of its attention to “Tom”")  # the hand rests, and presses nothing
    assert hand.acts <= 2 and opened.query()["text"] == "Tom read and then he laughed"

    hand.begin("?lang=en&head=1")
    page.evaluate("navigator.clipboard === undefined")
    hand.click(page.get_by_label("Sentence", exact=True))
    paste = """text => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", text);
        const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(event);
    }"""
    page.evaluate(paste, "1 0 0 1\n0 1 0 2\n0 0 1 0")  # what Ctrl+V does, one key
    hand.acts += 1
    page.get_by_text("is a matrix of 3 × 4").wait_for()
    hand.click(page.locator(".st-key-use_as_x button").first)
    page.wait_for_url("**x=**")
    assert hand.acts <= 3
    opened.settled()
    assert page.locator(".flow").evaluate("root => [root.flow.look.head, root.flow.data.words.T.length]") == [1, 3]
    expect(page.get_by_role("radio", name="x", exact=True, checked=True)).to_be_visible()  # its cells, not those of W_q

    hand.begin()
    hand.click(page.get_by_text("Matrices", exact=True).first)
    grid = page.get_by_test_id("stDataFrame").first
    expect(grid).to_be_visible()
    opened.settled()
    grid.hover(trial=True)  # waits until it stands still
    box = grid.bounding_box()
    cell = {"x": box["x"] + 0.35 * box["width"], "y": box["y"] + 2.5 * box["height"] / 5}
    page.mouse.dblclick(cell["x"], cell["y"])  # the second row of W_q
    hand.acts += 1
    expect(page.locator(".gdg-input")).to_be_focused()
    page.keyboard.press("Control+a")  # the editor has selected the number already
    hand.type("7")  # no cell of the example has it
    expect(page.locator(".gdg-input")).to_have_value("7")
    hand.press("Enter")
    page.wait_for_url("**w_q=**")
    assert hand.acts <= 4

    for act, changed in (
        (lambda: hand.click(hand.named("radio", "4")), "heads=4"),
        (lambda: hand.click(hand.toggle("c_causal")), "mask=causal"),
        (lambda: hand.click(hand.toggle("c_scale_on")), "scale=1.0"),
        (lambda: hand.click(hand.named("button", "Heads")), "stop=heads"),
    ):
        hand.begin()
        act()
        page.wait_for_url(f"**{changed}**")
        assert hand.acts == 1, changed

    hand.begin()
    hand.click(page.locator(".st-key-row_device button").first)
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text("no GPU")
    assert hand.acts == 1

    hand.begin()
    hand.click(page.locator(".st-key-present button").first)
    expect(page.locator(".st-key-stage h4")).to_be_visible()
    assert hand.acts == 1
    page.wait_for_url("**/present?lecture=ten_minutes&scene=1**")
