"""From a click to the pixels in every lesson: its main control moved, against a page of a button and a text."""

from collections.abc import Callable, Iterator
from itertools import cycle

from playwright.sync_api import Page

from pages.site.catalog import LESSONS
from tests.benchmarks.change_to_pixels import BARE, press
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

MOST = 3  # times the bare page
MEASURED_BESIDE = ("check", "bugs", "puzzles")  # pages to practise on
CHARTS = (
    "[data-testid=stVegaLiteChart] svg",
    ".map canvas",
    ".frames svg",
    ".flow svg",
    ".shelves svg",
    ".threads svg",
)
CHART = ", ".join((*CHARTS, ".walk", ".decoder svg", "table"))


def choices(*names: str) -> Callable[[Page], None]:
    """Presses these choices one after the other, again and again; of two that are called alike, the first."""
    names = cycle(names)
    return lambda page: page.get_by_role("radio", name=next(names), exact=True).first.click()


def slider(*keys: str) -> Callable[[Page], None]:
    """Moves the first slider by these keys, one after the other, again and again."""
    keys = cycle(keys)
    return lambda page: page.get_by_role("slider").first.press(next(keys))


def turn(page: Page) -> None:
    """Lets the other sentence ask."""
    page.get_by_role("button", name="Swap sides").click()


def first_slider() -> Callable[[Page], None]:
    """The main control of a lesson that MAIN does not name."""
    return slider("ArrowLeft", "ArrowRight")


MAIN: dict[str, Callable[[], Callable[[Page], None]]] = {
    "qkv": lambda: choices("with W", "without W"),
    "softmax": lambda: slider("ArrowRight", "ArrowLeft"),
    "scale": lambda: slider("ArrowRight", "ArrowLeft"),
    "scores": lambda: choices("dot", "cosine"),
    "masks": lambda: choices("none", "causal"),
    "heads": lambda: choices("one head", "two heads"),
    "positions": lambda: choices("none: a bag of words", "sines and cosines"),
    "cross": lambda: turn,
    "printed": lambda: choices("weights", "scores"),
    "explanation": lambda: choices("B · majority", "A · look up"),
    "meaning": lambda: choices("even", "as learned"),
    "models": lambda: slider("ArrowRight", "ArrowLeft"),
    "check": lambda: choices("weights", "scores"),
    "bugs": lambda: choices("2", "3"),
    "puzzles": lambda: choices("7", "8"),  # two matrices, two maps and a row of the output each
}


def measure(runs: int) -> Iterator[Figure]:
    """Each lesson's main control."""
    with process_of("app.py") as (ours, _), process_of(BARE, **AS_IT_COMES) as (bare, _), chromium() as browser:
        least = Tab(browser, bare, "button")
        for slug in (*LESSONS, *MEASURED_BESIDE):
            tab, act = Tab(browser, f"{ours}/{slug}?lang=en", CHART), MAIN.get(slug, first_slider)()
            times, floor = alternately(runs, lambda tab=tab, act=act: tab.change(act), lambda: least.change(press))
            yield against(f"change to pixels, lesson {slug}", times, floor, MOST)


if __name__ == "__main__":
    report([measure])
