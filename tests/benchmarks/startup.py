"""From `streamlit run` to a page that can be used, against a page that imports torch and says so."""

from collections.abc import Iterator
from time import perf_counter

from playwright.sync_api import Browser

from tests.benchmarks.change_to_pixels import PICTURE
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import chromium, new_page
from tests.browser.conftest import process_of

BARE, TEXT = "tests/benchmarks/bare/torch_only.py", "[data-testid=stText]"
MOST = 1.5  # times the bare page
STARTS = 10  # at most: a start takes seconds
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def start(browser: Browser, script: str, usable: str, **settings: str) -> float:
    """Seconds until a fresh process's page shows what makes it usable, in a fresh profile of a running browser."""
    begin = perf_counter()
    with process_of(script, **settings) as (address, _):
        page = new_page(browser)
        page.goto(address)
        page.locator(usable).first.wait_for()
        page.evaluate(TWO_FRAMES)
        taken = perf_counter() - begin
        page.context.close()
    return taken


def measure(runs: int) -> Iterator[Figure]:
    """The first chart of the workbench against the text of the bare page."""
    with chromium() as browser:
        taken, floor = alternately(
            min(runs, STARTS),
            lambda: start(browser, "app.py", PICTURE),
            lambda: start(browser, BARE, TEXT, **AS_IT_COMES),
            warm_up=1,
        )
    yield against("start to the first chart, against an empty page that imports torch", taken, floor, MOST)


if __name__ == "__main__":
    report([measure])
