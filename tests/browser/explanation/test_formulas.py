"""Every formula that a screen can show, drawn by the KaTeX that comes with Streamlit, on a page of its own."""

import re

import pytest
from playwright.sync_api import expect

from attention_core.explanation.formula import SYMBOL_COLOURS
from tests.browser.conftest import PATIENCE, process_of
from tests.formulas import BROKEN, colours_in, every_equation, every_sign, every_text, formulas_in

pytestmark = pytest.mark.slow

# What KaTeX made of each formula: the text that it read, or its complaint; the colours that it was asked for; the inks
# of letters that are not as the text around. An unknown command is no complaint: its name is drawn, in red.
DRAWN = """formulas => formulas.map(each => ({
    text: each.querySelector("annotation")?.textContent ?? each.title,
    asked: [...each.querySelectorAll("[mathcolor]")].map(part => part.getAttribute("mathcolor")),
    inks: [...each.querySelectorAll(".katex-html *")]
        .filter(part => [...part.childNodes].some(child => child.nodeType === Node.TEXT_NODE))
        .map(part => getComputedStyle(part).color)
        .filter(ink => ink !== getComputedStyle(each).color),
}))"""


@pytest.fixture(scope="module")
def drawn(chromium):
    """A function that opens the page on some of the formulas, and gives what KaTeX made of so many."""
    with process_of("tests/browser/formula_page.py") as (address, _):
        page = chromium.new_page()

        def open_page(shown: str, count: int) -> list[dict]:
            page.goto(f"{address}/?show={shown}")
            formulas = page.locator(".katex, .katex-error")
            expect(formulas).to_have_count(count, timeout=2 * PATIENCE)  # hundreds of them
            return formulas.evaluate_all(DRAWN)

        yield open_page
        page.close()


def hexadecimal(ink: str) -> str:
    """rgb(0, 103, 165) as #0067A5."""
    return "#" + "".join(f"{int(part):02X}" for part in re.findall(r"\d+", ink))


def faults(found: list[dict], wanted: list[str]) -> list[str]:
    """The formulas that KaTeX did not read as they are written, or not in our colours alone."""
    return [text for each, text in zip(found, wanted, strict=True) if not is_as_written(each, text)]


def is_as_written(each: dict, text: str) -> bool:
    """Whether KaTeX has read all of a formula, and drawn it in the colours that it asks for, which are ours."""
    asked = colours_in(text)
    inks = {hexadecimal(ink) for ink in each["inks"]}
    return each["text"] == text and each["asked"] == asked and inks == set(asked) <= set(SYMBOL_COLOURS.values())


def test_katex_draws_the_formulas_of_every_run(drawn):
    wanted = every_equation()
    assert faults(drawn("equations", len(wanted)), wanted) == []
    assert {colour for text in wanted for colour in colours_in(text)} == set(SYMBOL_COLOURS.values())


def test_katex_draws_every_sign(drawn):
    wanted = every_sign()
    assert faults(drawn("signs", len(wanted)), wanted) == []


def test_katex_draws_the_formulas_in_texts(drawn):
    wanted = [formula for text in every_text() for formula in formulas_in(text)]
    assert faults(drawn("texts", len(wanted)), wanted) == []


def test_what_is_broken_is_seen(drawn):
    assert faults(drawn("broken", len(BROKEN)), BROKEN) == BROKEN
