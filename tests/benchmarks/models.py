"""A language model on the workbench, against the same changes of seven words with two heads; and its memory."""

from collections.abc import Iterator
from itertools import count, cycle

from tests.benchmarks.change_to_pixels import PICTURE, Changes
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import resident_megabytes
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

MOST_OPENED = 1.5  # times the workbench's mask; for a sentence no bound is set: it runs three layers of twice the words
LINK = "/?ex=model_en&t=9"
WORDS = ("cat", "dog", "horse", "bird", "mouse", "cow")


class ModelChanges:
    """What a visitor does with a model, each time something else."""

    def __init__(self, tab: Tab):
        self.tab, self.numbers, self.layers = tab, count(), cycle((0, 4, 8))

    def sentence(self) -> float:
        """A sentence that nobody typed before: all layers run, and the maps of all heads are drawn."""
        box = self.tab.page.get_by_label("Sentence", exact=True)
        number = next(self.numbers)
        one, two = WORDS[number % 6], WORDS[number // 6 % 6]
        text = (
            f"the {one} did not cross the street because it was too tired{' very' * (number // 36)} . the {two} sang ."
        )
        return self.tab.change(lambda page: box.press("Enter"), lambda page: box.fill(text))

    def head(self) -> float:
        """A head of another layer is opened on the rail."""
        rail = self.tab.page.locator(".flow .rail button").nth(next(self.layers))
        return self.tab.change(lambda page: rail.click(), lambda page: rail.hover())


def measure(runs: int) -> Iterator[Figure]:
    """A new sentence, then a head of another layer; the same of the workbench in turn: a new sentence, a mask."""
    with process_of("app.py") as (address, pid), chromium() as browser:
        before = resident_megabytes(pid)
        plain = Changes(Tab(browser, address, PICTURE))
        model = ModelChanges(Tab(browser, address + LINK, PICTURE))
        opened = resident_megabytes(pid)
        typed, moved, sentence, mask = alternately(runs, model.sentence, model.head, plain.sentence, plain.mask)
        yield against("a model: a sentence to the maps of all heads, against a sentence of 7 words", typed, sentence)
        yield against("a model: a head of another layer opened, against a mask", moved, mask, MOST_OPENED)
        after = resident_megabytes(pid)
        found = f"{before:.0f}, {opened:.0f}, {after:.0f} MB"
        yield Figure("memory: a fresh server, a model opened, after that", "–", found)


if __name__ == "__main__":
    report([measure])
