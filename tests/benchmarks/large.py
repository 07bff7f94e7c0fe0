"""Eight heads of 256 tokens, from a change to the pixels, against a page that only draws as much on canvases."""

from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Page

from tests.benchmarks.change_to_pixels import press
from tests.benchmarks.figures import Figure, against, alternately, milliseconds, report
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

LINK: str | None = None  # a screen of 8 heads and 256 tokens, such as "?ex=..."; None: no screen shows as many yet
CANVAS = "[data-testid=stMain] canvas"  # what that screen draws on
BARE = "tests/benchmarks/bare/canvases.py"
MOST = 2  # times the bare page


def other_token(page: Page) -> None:
    """Another token is looked at: the first that is not."""
    page.locator(".tile:not(.chosen)").first.click()


def measure(runs: int, link: str | None = LINK, canvas: str = CANVAS, bare: str = BARE) -> Iterator[Figure]:
    """A click on a token of a large run against the bare canvases; without such a run, those alone."""
    with process_of("app.py") as (ours, _), process_of(bare) as (least, _), chromium() as browser:
        canvases = Tab(browser, least, "canvas")
        if link is None:
            (taken,) = alternately(runs, lambda: canvases.change(press))
            yield Figure("8 heads of 256 tokens on bare canvases", "–", milliseconds(median(taken)))
            return
        screen = Tab(browser, f"{ours}/{link}", canvas)
        taken, floor = alternately(runs, lambda: screen.change(other_token), lambda: canvases.change(press))
        yield against("change to pixels, 8 heads of 256 tokens", taken, floor, MOST)


if __name__ == "__main__":
    report([measure])
