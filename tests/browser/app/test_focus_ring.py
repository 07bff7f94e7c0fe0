"""Who moves by keys sees where the focus is; a click draws no ring."""

import pytest

from tests.browser.conftest import Screen

pytestmark = pytest.mark.slow

LEAST_CONTRAST = 3  # to the ground, for what is no text (WCAG 2.2, 1.4.11)
STOPS = 60  # more than any of these pages has
# Looks at the element with the focus, in whatever shadow root: its name, and its best ring's width and contrast.
RING = """() => {
    const up = (element) => element.parentElement ?? element.getRootNode().host ?? null;
    const line = (element) => (element ? [element, ...line(up(element))] : []);
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const parts = (colour) => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    if (!at || at === document.body) return null;
    const ground = light(line(at).slice(1).map((each) => getComputedStyle(each).backgroundColor)
        .find((colour) => parts(colour)[3] === 255));
    const contrast = (colour) => {
        if (parts(colour)[3] < 255) return 0;
        const [dark, bright] = [ground, light(colour)].sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05);
    };
    const rings = line(at).slice(0, 6).flatMap((each) => {
        const { outlineStyle, outlineWidth, outlineColor, stroke, strokeWidth } = getComputedStyle(each);
        const outline = outlineStyle === "none" ? [] : [[parseFloat(outlineWidth), contrast(outlineColor)]];
        if (each !== at || !each.matches("circle, rect")) return outline;
        return [...outline, [parseFloat(strokeWidth), contrast(stroke)]];
    });
    const isText = at.matches("input:not([type]), input[type=text], input[type=number], [role=combobox]");
    const key = line(at).flatMap((each) => [...each.classList]).find((name) => name.startsWith("st-key-"));
    const name = `${at.tagName} ${key} "${(at.ariaLabel ?? at.textContent).trim().slice(0, 40)}"`;
    return { name, isText, rings, shown: at.matches(":focus-visible") };
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", ["", "heads", "maps", "encoder", "check"])
def test_every_stop_of_the_tab_key_has_a_ring_that_can_be_seen(profile, server, address, theme):
    opened = Screen(profile.new_page(), server)
    opened.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    opened.page.goto(f"{server}/{address}")
    opened.page.locator("main :is(summary, button)").first.wait_for()
    opened.settled()
    stops, unseen = [], []
    while len(stops) < STOPS:
        opened.page.keyboard.press("Tab")
        stop = opened.page.evaluate(RING)
        if stop is None:
            break
        stops.append(stop["name"])
        is_seen = any(width >= 2 and contrast >= LEAST_CONTRAST for width, contrast in stop["rings"])
        if not (is_seen or stop["isText"]):  # a text field has its border and its caret
            unseen.append((stop["name"], stop["rings"]))
    assert any(name.startswith("MAIN") for name in stops), stops
    assert unseen == []
    opened.page.close()


def test_a_click_draws_no_ring(profile, server):
    opened = Screen(profile.new_page(), server)
    page = opened.page
    page.goto(server)
    opened.wait_for_picture()
    opened.settled()
    places = [".flow .hit", ".flow .stage", ".flow .bar .play", ".flow .track", ".flow .views [data-kind=map]"]
    places += [".flow .rail button", ".st-key-c_causal label", ".st-key-c_heads button", ".live input"]
    places += [".st-key-step_drawer summary"]
    for place in places:
        page.locator(place).first.click()
        opened.settled()
        assert not (ring := page.evaluate(RING)) or not ring["shown"], place
    page.mouse.click(8, 500)  # beside the picture
    page.keyboard.press("j")
    ring = page.evaluate(RING)
    assert ring["name"].startswith("MAIN") and ring["rings"] == []
    page.close()
