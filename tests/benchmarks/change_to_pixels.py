"""From a click to the pixels: the workbench with seven tokens and two heads against a page of a button and a text."""

from collections.abc import Iterator
from itertools import count, cycle

from playwright.sync_api import Page

from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

BARE = "tests/benchmarks/bare/button.py"
MOST, AIM = 3, 2  # times the bare page
MOST_LET_GO = 2
PICTURE = ".flow svg"


def press(page: Page) -> None:
    """The bare page's change."""
    page.get_by_role("button", name="Change").click()


class Changes:
    """What a visitor does on the workbench, each time something else."""

    def __init__(self, tab: Tab):
        self.tab, self.numbers = tab, count()
        self.places = cycle((19, -19))  # px to the right of where it is

    def mask(self) -> float:
        """The causal mask is switched on, then off and so on: computed anew where the sentence is a new one."""
        pill = self.tab.page.locator(".st-key-c_causal label")
        return self.tab.change(lambda page: pill.click(), lambda page: pill.hover())

    def temperature(self) -> float:
        """The temperature's slider is let go further up, then back: the proven numbers replace the browser's."""
        knob = self.tab.page.locator(".live input")

        def drag(page: Page) -> None:
            box = knob.bounding_box()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.mouse.move(box["x"] + box["width"] / 2 + next(self.places), box["y"] + box["height"] / 2, steps=3)

        return self.tab.change(lambda page: page.mouse.up(), drag)

    def query(self) -> float:
        """A query's vector is let go elsewhere in the plane: the matrix takes the new numbers, which are proven."""
        grip = self.tab.page.get_by_role("slider", name="q of").first

        def drag(page: Page) -> None:
            box = grip.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + next(self.places), y + 7, steps=3)

        return self.tab.change(lambda page: page.mouse.up(), drag)

    def sentence(self) -> float:
        """A sentence that nobody typed before: everything is computed and proven."""
        box = self.tab.page.get_by_label("Sentence", exact=True)
        text = f"Anna fed the dog and it barked{next(self.numbers)}"
        return self.tab.change(lambda page: box.press("Enter"), lambda page: box.fill(text))


def measure(runs: int) -> Iterator[Figure]:
    """A mask for the sentence of the round before, then a new sentence; a slider and a vector that are let go."""
    with process_of("app.py") as (ours, _), process_of(BARE, **AS_IT_COMES) as (bare, _), chromium() as browser:
        changes, plane = Changes(Tab(browser, ours, PICTURE)), Changes(Tab(browser, ours, PICTURE))
        least = Tab(browser, bare, "button")
        plane.tab.page.locator(".flow .views [data-kind=plane]").click()
        kinds = {
            "a mask on or off": (changes.mask, MOST, AIM),
            "a slider let go": (changes.temperature, MOST_LET_GO, None),
            "a vector let go in the plane": (plane.query, MOST_LET_GO, None),
            "a sentence never typed before": (changes.sentence, MOST, AIM),
        }
        acts = [act for act, *_ in kinds.values()]
        *times, floor = alternately(runs, *acts, lambda: least.change(press))
        for (what, (_, most, aim)), taken in zip(kinds.items(), times, strict=True):
            yield against(f"change to pixels, {what} (7 tokens, 2 heads)", taken, floor, most, aim)


if __name__ == "__main__":
    report([measure])
