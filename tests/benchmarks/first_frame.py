"""The first drawn frame of the picture, against an empty page's: both servers warm, each visit with a fresh profile."""

from collections.abc import Iterator

from playwright.sync_api import Browser

from tests.benchmarks.change_to_pixels import BARE
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import chromium, new_page
from tests.browser.conftest import process_of

MOST = 1.3  # times the empty page
TEXT, WORD = "[data-testid=stText]", ".flow svg .word"
# Looks in each frame, also into shadow roots; Playwright itself looks up to half a second late.
WATCH = """(() => {
    const roots = [document], attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (options) {
        const root = attach.call(this, options);
        roots.push(root);
        return root;
    };
    const look = () => {
        if (!roots.some((root) => root.querySelector("%s"))) return requestAnimationFrame(look);
        requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
    };
    requestAnimationFrame(look);
})()"""


def visit(browser: Browser, address: str, drawn: str) -> float:
    """Seconds from the navigation until a page shows what is waited for, painted."""
    page = new_page(browser)
    page.add_init_script(WATCH % drawn)
    page.goto(address)
    page.wait_for_function("() => window.painted")
    taken = page.evaluate("() => window.painted / 1000")
    page.context.close()
    return taken


def measure(runs: int) -> Iterator[Figure]:
    """The first word of the workbench's picture, and the text of the empty page."""
    with process_of("app.py") as (ours, _), process_of(BARE, **AS_IT_COMES) as (bare, _), chromium() as browser:
        visits = (lambda: visit(browser, ours, WORD), lambda: visit(browser, bare, TEXT))
        taken, floor = alternately(runs, *visits)
    yield against("first frame of the picture, server warm, against an empty page", taken, floor, MOST)


if __name__ == "__main__":
    report([measure])
