"""Takes every picture of the documents anew."""

from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.benchmarks.tab import chromium
from tests.browser.conftest import serving
from tests.pictures.journey import save_journey

DOCS = Path(__file__).parents[2] / "docs"
WINDOW = {"width": 1280, "height": 720}
STEP = "?lang=zh&step=scores"


def open_page(browser: Browser, address: str, scheme: str = "light") -> Page:
    """A page, when its picture is drawn."""
    page = browser.new_context(viewport=WINDOW, color_scheme=scheme, locale="en").new_page()
    page.goto(address)
    page.locator(".flow .word").first.wait_for(state="attached")
    page.wait_for_function("() => document.querySelector('[data-test-script-state=notRunning]')")
    page.evaluate("document.fonts.ready")
    return page


with chromium() as browser, serving() as address:
    open_page(browser, address).screenshot(path=DOCS / "first-screen.png")
    open_page(browser, f"{address}/{STEP}", "dark").screenshot(path=DOCS / "step-zh-dark.png")
    save_journey(open_page(browser, address), DOCS / "journey.gif")
