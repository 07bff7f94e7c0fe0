"""The first drawn frame of the picture, against an empty page's: both servers warm, each visit with a fresh profile."""

from collections.abc import Iterator
from time import perf_counter

from playwright.sync_api import Browser

from tests.benchmarks.change_to_pixels import BARE, PICTURE
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import chromium, new_page
from tests.browser.conftest import process_of

MOST = 1.3  # times the empty page
TEXT = "[data-testid=stText]"
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def visit(browser: Browser, address: str, drawn: str) -> float:
    """Seconds until a page shows what is waited for, painted."""
    page = new_page(browser)
    begin = perf_counter()
    page.goto(address)
    page.locator(drawn).first.wait_for(state="attached")
    page.evaluate(TWO_FRAMES)
    taken = perf_counter() - begin
    page.context.close()
    return taken


def measure(runs: int) -> Iterator[Figure]:
    """The first word of the workbench's picture, and the text of the empty page."""
    with process_of("app.py") as (ours, _), process_of(BARE, **AS_IT_COMES) as (bare, _), chromium() as browser:
        visits = (lambda: visit(browser, ours, f"{PICTURE} .word"), lambda: visit(browser, bare, TEXT))
        taken, floor = alternately(runs, *visits)
    yield against("first frame of the picture, server warm, against an empty page", taken, floor, MOST)


if __name__ == "__main__":
    report([measure])
