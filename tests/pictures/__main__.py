"""Takes every picture of the documents and of the lectures anew; with a folder, frames of the journey in all looks."""

import sys
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.benchmarks.tab import chromium
from tests.browser.conftest import Screen, serving
from tests.pictures.journey import save_frames, save_journey
from tests.pictures.library import put_library_into_lectures

DOCS = Path(__file__).parents[2] / "docs"
LOOKS = {
    "light": ("en", 1280, 720, "light"),
    "dark": ("en", 1280, 720, "dark"),
    "chinese": ("zh", 1280, 720, "light"),
    "hall": ("en", 1920, 1080, "light"),
    "phone": ("zh", 390, 844, "dark"),
}


def open_page(
    browser: Browser, address: str, link: str, look: str = "light", lesson: str = "", moves: bool = False
) -> Page:
    """A page, when all of it is drawn; unless it moves, nothing on it is still on its way to its place."""
    _, width, height, scheme = LOOKS[look]
    motion = "no-preference" if moves else "reduce"
    shown = {"viewport": {"width": width, "height": height}, "color_scheme": scheme, "reduced_motion": motion}
    context = browser.new_context(**shown, locale="en")
    opened = Screen(context.new_page(), address)
    if lesson:
        opened.open_lesson(lesson, link)
    else:
        opened.open(link)
    opened.page.evaluate("document.fonts.ready")
    return opened.page


def take_pictures(browser: Browser, address: str) -> None:
    """The pictures of the documents."""
    compared = "?mask=causal&pinned=values&against=ex%3Den_it&lang=en"
    open_page(browser, address, "?lang=en").screenshot(path=DOCS / "first-screen.png")
    open_page(browser, address, "?lang=zh&step=scores", "dark").screenshot(path=DOCS / "step-zh-dark.png")
    maps = open_page(browser, address, compared)
    maps.get_by_test_id("stVegaLiteChart").locator(
        "visible=true"
    ).scroll_into_view_if_needed()  # one more is for phones
    maps.screenshot(path=DOCS / "compare.png")
    open_page(browser, address, "?lang=en", lesson="masks").screenshot(path=DOCS / "lesson.png")
    save_journey(open_page(browser, address, "?lang=en", moves=True), DOCS / "journey.gif")


with chromium() as browser, serving() as address:
    if len(sys.argv) > 1:
        for look, (language, *_) in LOOKS.items():
            page = open_page(browser, address, f"?lang={language}", look, moves=True)
            save_frames(page, Path(sys.argv[1]) / look)
    else:
        take_pictures(browser, address)
        put_library_into_lectures(browser)
