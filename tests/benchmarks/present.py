"""From a key to the pixels while a lecture is shown: from step to step and from scene to scene, against a bare page."""

from collections.abc import Iterator
from itertools import cycle

from tests.benchmarks.change_to_pixels import BARE, MOST, press
from tests.benchmarks.figures import Figure, against, alternately, report
from tests.benchmarks.process import AS_IT_COMES
from tests.benchmarks.tab import Tab, chromium
from tests.browser.conftest import process_of

SCENE_STEPS = {
    "to the arithmetic and back": "cell",
    "to the map and back": "map",
    "to the next scene and back": "symbol",
}


def measure(runs: int) -> Iterator[Figure]:
    """Two keys, one after the other, again and again, between two scene_steps that lie beside each other."""
    with process_of("app.py") as (ours, _), process_of(BARE, **AS_IT_COMES) as (bare, _), chromium() as browser:
        least = Tab(browser, bare, "button")
        for what, scene_step in SCENE_STEPS.items():
            scene = 3 if scene_step == "symbol" else 1
            tab, keys = (
                Tab(browser, f"{ours}/present?scene={scene}&step={scene_step}", ".lectern"),
                cycle(("PageUp", "PageDown")),
            )
            step = lambda tab=tab, keys=keys: tab.change(lambda page: page.keyboard.press(next(keys)))  # noqa: E731
            times, floor = alternately(runs, step, lambda: least.change(press))
            yield against(f"a key to the pixels, {what}", times, floor, MOST)


if __name__ == "__main__":
    report([measure])
