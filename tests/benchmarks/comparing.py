"""A and B beside each other: the same changes on the workbench with A pinned, and on the workbench as it opens."""

from collections.abc import Iterator

from tests.benchmarks.change_to_pixels import PICTURE, Changes
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

PINNED = "/?against=&pinned=values"
MOST = 1.5  # times the workbench


def measure(runs: int) -> Iterator[Figure]:
    """A mask for the sentence of the round before, then a new sentence; each on both in turn."""
    with process_of("app.py") as (address, _), chromium() as browser:
        plain, pinned = (Changes(Tab(browser, address + link, PICTURE)) for link in ("", PINNED))
        kinds = {
            "mask": "a mask on or off",
            "sentence": "a sentence never typed before",
        }
        measures = [getattr(changes, kind) for kind in kinds for changes in (pinned, plain)]
        times = alternately(runs, *measures)
        for n, what in enumerate(kinds.values()):
            yield against(f"A and B beside each other: {what}, change to pixels", times[2 * n], times[2 * n + 1], MOST)


if __name__ == "__main__":
    report([measure])
