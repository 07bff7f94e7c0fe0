"""From a click to the pixels: the workbench with seven tokens and two heads against a page of a button and a text."""

from collections.abc import Iterator
from itertools import count

from playwright.sync_api import Page

from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

BARE = "tests/benchmarks/bare/button.py"
MOST, AIM = 3, 2  # times the bare page
PICTURE = ".flow svg"


def press(page: Page) -> None:
    """The bare page's change."""
    page.get_by_role("button", name="Change").click()


class Changes:
    """What a visitor does on the workbench, each time something else."""

    def __init__(self, tab: Tab):
        self.tab, self.numbers = tab, count()

    def mask(self) -> float:
        """The causal mask is switched on, then off and so on: computed anew where the sentence is a new one."""
        return self.tab.change(lambda page: page.get_by_role("button", name="causal", exact=True).click())

    def temperature(self) -> float:
        """The temperature's slider is let go one place further: the proven numbers take the place of the browser's."""
        return self.tab.change(lambda page: page.locator(".live input").press("ArrowRight"))

    def sentence(self) -> float:
        """A sentence that nobody typed before: everything is computed and proven."""
        box = self.tab.page.get_by_label("Sentence", exact=True)
        text = f"Anna fed the dog and it barked{next(self.numbers)}"
        return self.tab.change(lambda page: box.press("Enter"), lambda page: box.fill(text))


def measure(runs: int) -> Iterator[Figure]:
    """A mask for the sentence of the round before, then a new sentence."""
    with process_of("app.py") as (ours, _), process_of(BARE, **AS_IT_COMES) as (bare, _), chromium() as browser:
        changes, least = Changes(Tab(browser, ours, PICTURE)), Tab(browser, bare, "button")
        kinds = {
            "a mask on or off": changes.mask,
            "a slider let go": changes.temperature,
            "a sentence never typed before": changes.sentence,
        }
        *times, floor = alternately(runs, *kinds.values(), lambda: least.change(press))
        for what, taken in zip(kinds, times, strict=True):
            yield against(f"change to pixels, {what} (7 tokens, 2 heads)", taken, floor, MOST, AIM)


if __name__ == "__main__":
    report([measure])
