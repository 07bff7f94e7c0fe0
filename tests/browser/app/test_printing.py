"""A page on paper: the dark theme in the colours of the light one, no control, and sheets that are used."""

import re
from dataclasses import asdict
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from pages.components.modules import read_part

# The ratios of contrast to white of all texts on paper, except those on a filled ground.
CONTRASTS = """() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const up = (element) => element.parentElement ?? element.getRootNode().host ?? null;
    const isFilled = (element) => {
        const [red, green, blue, alpha = 1] = parts(getComputedStyle(element).backgroundColor);
        return alpha > 0 && Math.min(red, green, blue) < 255 || (up(element) ? isFilled(up(element)) : false);
    };
    const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const texts = (root) => [...root.querySelectorAll("*")].flatMap((each) => [
        ...(each instanceof HTMLElement && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
            && !each.matches("script, style, noscript") && isSeen(each) && !isFilled(each) ? [each] : []),
        ...(each.shadowRoot ? texts(each.shadowRoot) : []),
    ]);
    return texts(document.body).map((each) =>
        [each.textContent.trim().slice(0, 30), 1.05 / (light(getComputedStyle(each).color) + 0.05)]);
}"""
STYLES = """() => {
    const styles = (root) => [...root.querySelectorAll("*")].flatMap((each) =>
        [each.getAttribute("style") || "", ...(each.shadowRoot ? styles(each.shadowRoot) : [])]);
    return styles(document.body);
}"""
CONTROLS = """main :is(button:not(.open, .cell, .scene > *), select, input, textarea, [role=slider]:not(.cell),
    .how, [class*="st-key-how_"])"""  # bars and cards are read, too
GROUND = "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"


def sheet_of(opened) -> np.ndarray:
    """The pixels of the page as paper has it, (height, width, 3)."""
    opened.page.emulate_media(media="print")
    opened.settled()  # pictures are drawn for another width, which a printer does not wait for
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")  # emulated paper sends none
    return np.array(Image.open(BytesIO(opened.page.screenshot(full_page=True))).convert("RGB"), dtype=int)


# A map on a canvas; a picture of shapes above cells of which black and white mean numbers.
@pytest.mark.slow
@pytest.mark.parametrize("lesson", ["masks", "heads"])
def test_a_dark_page_is_printed_as_the_light_one_is(screen, lesson):
    sheets = []
    for scheme in ("light", "dark"):
        opened = screen(lesson=lesson, color_scheme=scheme)
        sheets.append(sheet_of(opened))
        contrasts = dict(opened.page.evaluate(CONTRASTS))
        assert len(contrasts) >= 4
        assert {text: round(ratio, 1) for text, ratio in contrasts.items() if ratio < 4.5} == {}
    light, dark = sheets
    assert (dark.min(axis=2) > 250).mean() > 0.6  # most of a sheet is white
    assert np.abs(light - dark).mean() < 1  # of 255


@pytest.mark.slow
def test_after_printing_the_dark_page_is_as_it_was(screen):
    page = screen("?ex=en_it", color_scheme="dark", reduced_motion="reduce").page
    before = page.evaluate(STYLES)
    page.evaluate(f"addEventListener('beforeprint', () => {{ globalThis.printed = ({GROUND})() }})")
    page.pdf()
    assert page.evaluate("globalThis.printed") == "rgb(255, 255, 255)"
    assert page.evaluate(GROUND) == "rgb(20, 23, 28)"
    assert page.evaluate(STYLES) == before


# Maps beside each other on the first sheet; a lesson with its ribbon; most of the glossary; a line on keys, left out.
SHEETS = {
    "/maps": (".heads .card", 2),
    "/glossary": ("[class*=st-key-glossary-group-] summary", 1),
    "/softmax": (".flow svg text", 1),
    "/glossary?find=a": (".st-key-sign_shift svg", 4),
    "/present": (".scene", 1),
}


@pytest.mark.slow
def test_pages_fill_their_sheets_and_have_no_controls(screen):
    opened = screen(lesson="maps")
    for link, (picture, count) in SHEETS.items():
        opened.change_address(link)
        opened.page.locator(picture).first.wait_for()
        opened.settled()
        sheets = opened.page.pdf(prefer_css_page_size=True)
        assert (link, len(re.findall(rb"/Type\s*/Page\b", sheets))) == (link, count)
        opened.page.emulate_media(media="print")
        expect(opened.page.locator(picture).first).to_be_visible()
        expect(opened.page.locator(CONTROLS).locator("visible=true")).to_have_count(0)
        opened.page.emulate_media(media="null")


def test_the_script_has_the_colours_of_both_palettes():
    pairs = re.findall(r'^    (\w+): \["(#\w{6})", "(#\w{6})"\],$', read_part("printing.js"), re.MULTILINE)
    assert {name: dark for name, dark, _ in pairs} == asdict(DARK_PALETTE)
    assert {name: light for name, _, light in pairs} == asdict(LIGHT_PALETTE)
