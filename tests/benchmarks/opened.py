"""A folder with a model of BERT-base size, random numbers, on the page of maps: opened, a head looked at, closed."""

from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tests.benchmarks.change_to_pixels import PICTURE, Changes
from tests.benchmarks.figures import Figure, against, alternately, milliseconds, report
from tests.benchmarks.process import cpu_seconds, resident_megabytes
from tests.benchmarks.recorded import make
from tests.benchmarks.tab import QUIET, Tab, chromium
from tests.browser.conftest import process_of
from tests.checkpoints.folders import save_folder
from tests.checkpoints.tokenizers import KINDS

CARDS = ".heads .card"
HEADS, TINY_HEADS = 144, 12  # 12 layers of 12, and 3 of 4
TEXT = "z" * 32  # a piece each
MOST_HEAD = 2  # times the workbench's mask
LEAST, MOST_OPENED = 3, 5  # how often a folder is opened; each time takes seconds
WAIT_MS = 120_000


def save_models(place: Path) -> list[Path]:
    """Two folders with the same model of BERT-base size, and one with a tiny one."""
    folders = [place / "one", place / "two"]
    for folder in folders:
        make("BERT base").save_pretrained(folder)
        KINDS["byte pairs"]().save(str(folder / "tokenizer.json"))
    save_folder(place / "tiny", "GPT2LMHeadModel")
    return [*folders, place / "tiny"]


class Maps:
    """The page of maps, on which folders are opened."""

    def __init__(self, tab: Tab, address: str):
        self.tab, self.address, self.heads = tab, address, count(1)  # head 0 is open already

    def open(self, folder: Path, heads: int) -> tuple[float, float]:
        """Seconds until the first map of a folder's model stands, and until the page is at rest with all of them."""
        page = self.tab.page
        page.goto(self.address)  # the maps of the example are fewer
        page.locator(CARDS).first.wait_for(timeout=WAIT_MS)
        page.locator(".st-key-c_maps_folder input").fill(str(folder))
        page.locator(".st-key-c_maps_text textarea").fill(TEXT)
        page.evaluate("arm()")
        begun = perf_counter()
        page.get_by_test_id("stFormSubmitButton").get_by_role("button").click()
        page.get_by_text(f"{heads} heads").first.wait_for(timeout=WAIT_MS)
        page.locator(CARDS).nth(heads - 1).wait_for(state="attached", timeout=WAIT_MS)
        first = perf_counter() - begun
        page.wait_for_function("quiet => atRest(quiet)", arg=QUIET, timeout=WAIT_MS)
        seen = page.evaluate("seen")
        return first, (max(seen["painted"], seen["finished"]) - seen["asked"]) / 1000

    def head(self) -> float:
        """Another head is opened: its map in large, its steps and its proof."""
        card = self.tab.page.locator(f"{CARDS} .open").nth(next(self.heads) * 7 % HEADS)
        return self.tab.change(lambda page: card.click(), lambda page: card.hover())


def measure(runs: int) -> Iterator[Figure]:
    """Opened in turn, so that each closes the one before; heads beside the workbench's mask; memory in between."""
    with TemporaryDirectory() as place:
        *folders, tiny = save_models(Path(place))
        with process_of("app.py") as (address, pid), chromium() as browser:
            before = resident_megabytes(pid)
            plain = Changes(Tab(browser, address, PICTURE))
            page = f"{address}/maps?open=model"
            maps = Maps(Tab(browser, page, CARDS), page)
            turns = cycle(folders)
            times = []
            for _ in range(min(max(runs, LEAST), MOST_OPENED)):
                begun = cpu_seconds(pid)
                times.append((*maps.open(next(turns), HEADS), cpu_seconds(pid) - begun))
            opened = resident_megabytes(pid)
            what = "a folder of BERT-base size at 32 tokens"
            for name, taken in zip(
                ("the maps of all heads", "the page at rest"), zip(*times, strict=True), strict=True
            ):
                yield Figure(f"{what}: from Open to {name}, least", "–", milliseconds(min(taken)))
            heads, mask = alternately(runs, maps.head, plain.mask)
            yield against(f"{what}: a head opened, against a mask of the workbench", heads, mask, MOST_HEAD)
            maps.open(tiny, TINY_HEADS)
            closed = resident_megabytes(pid)
            found = f"{before:.0f}, {opened:.0f}, {closed:.0f} MB"
            yield Figure("memory: before a model is opened, with BERT base open, after it was closed", "–", found)


if __name__ == "__main__":
    report([measure])
