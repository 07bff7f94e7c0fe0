"""A tab of Chromium that knows when the page has come to rest after a change (pixels.js says what that means)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM

QUIET = 300  # milliseconds without a change: then the last one was the last; they do not count
WATCH = (Path(__file__).parent / "pixels.js").read_text(encoding="utf-8")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of the tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page, opened once; each change of it is timed."""

    def __init__(self, browser: Browser, address: str, ready: str):
        """ready: what is on the page when it can be used, as a selector."""
        self.page = new_page(browser, reduced_motion="reduce")  # what moves on afterwards does not count
        self.page.goto(address)
        self.page.locator(ready).first.wait_for()
        self.page.wait_for_function("() => document.querySelector('[data-test-script-state=notRunning]')")

    def change(self, act: Callable[[Page], None], prepare: Callable[[Page], None] = lambda page: None) -> float:
        """Seconds from the click or the key in `act` until the page is at rest."""
        self.page.bring_to_front()
        prepare(self.page)
        self.page.evaluate("arm()")
        act(self.page)
        self.page.wait_for_function("quiet => atRest(quiet)", arg=QUIET)
        seen = self.page.evaluate("seen")
        return (max(seen["painted"], seen["finished"]) - seen["asked"]) / 1000


def new_page(browser: Browser, **options: str) -> Page:
    """A page of a profile of its own, as large as a projector's."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en", **options).new_page()
    page.set_default_timeout(30_000)
    page.add_init_script(WATCH)
    return page
