"""A language model that is questioned: a head off, a written word, against the workbench's mask; visitors writing."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from tests.benchmarks.change_to_pixels import PICTURE, Changes
from tests.benchmarks.crowd import PAUSE, dues
from tests.benchmarks.figures import Figure, against, alternately, milliseconds, percentile, report
from tests.benchmarks.process import cpu_seconds, resident_megabytes
from tests.benchmarks.tab import Tab, chromium
from tests.benchmarks.visitor import Visitor, visiting
from tests.browser.conftest import process_of

MOST = 1.5  # times the workbench's mask
LAYERS, HEADS, TOKENS = 12, 12, 32  # of another model, whose maps are given
WRITERS = 20
WRITTEN = 12  # words of each
WHAT_IF = "/?ex=model_en&t=9&panel=what_if"
WORDS = "/?ex=model_en_decoder&t=3&panel=words"
DECODER = "ex=model_en_decoder&t=3&panel=words&word_seed={}"  # each visitor's text is another one


class Questions:
    """What a visitor asks, each time something else. folder: where files of maps lie."""

    def __init__(self, switches: Tab, writing: Tab, maps: Tab, folder: Path):
        self.switches, self.writing, self.maps = switches, writing, maps
        self.places = cycle(range(12))
        self.files = cycle([make_maps(folder, seed) for seed in (1, 2, 3)])

    def head(self) -> float:
        """Another head is switched off besides, or on again: all outcomes, maps and the path are computed anew."""
        head = self.switches.page.locator(".what-if .switch").nth(next(self.places))
        return self.switches.change(lambda page: head.click(), lambda page: head.hover())

    def word(self) -> float:
        """The decoder writes one word; where its text is full, it begins again first."""
        buttons = self.writing.page.locator(".writing .act")
        if self.writing.page.locator(".writing .tile.written").count() > WRITTEN:
            self.writing.change(lambda page: buttons.nth(3).click())
        return self.writing.change(lambda page: buttons.first.click(), lambda page: buttons.first.hover())

    def all_heads(self) -> float:
        """A file with other maps of as large a model is opened: it is read and measured, and all cards are drawn."""
        box = self.maps.page.locator("input[type=file]")
        return self.maps.change(lambda page: box.set_input_files(next(self.files)))


def make_maps(folder: Path, seed: int) -> Path:
    """A file of maps of LAYERS x HEADS on TOKENS words, drawn from a seed."""
    logits = np.random.default_rng(seed).normal(size=(LAYERS, HEADS, TOKENS, TOKENS))
    weights = np.exp(3 * logits)
    file = folder / f"maps_{seed}.npz"
    np.savez_compressed(file, attention=weights / weights.sum(-1, keepdims=True))
    return file


def measure(runs: int) -> Iterator[Figure]:
    """A head off, a written word and a file of maps against a mask; then many visitors who write."""
    with process_of("app.py") as (address, pid), chromium() as browser, TemporaryDirectory() as folder:
        plain = Changes(Tab(browser, address, PICTURE))
        switches, writing = Tab(browser, address + WHAT_IF, ".what-if .path"), Tab(browser, address + WORDS, ".writing")
        maps = Tab(browser, f"{address}/maps", ".heads .card")
        questions = Questions(switches, writing, maps, Path(folder))
        off, written, opened, mask = alternately(runs, questions.head, questions.word, questions.all_heads, plain.mask)
        yield against("a model: a head switched off to the new bars, against a mask", off, mask, MOST)
        yield against("a model: a written word, against a mask", written, mask)
        yield against(f"all heads of {LAYERS} x {HEADS} at {TOKENS} words: a file to the cards", opened, mask)
        yield Figure("memory: a model questioned", "–", f"{resident_megabytes(pid):.0f} MB")
    with process_of("app.py") as (address, pid):
        asyncio.run(writers(address, 2))  # warm-up
        before = cpu_seconds(pid)
        waits = asyncio.run(writers(address, WRITERS))
        spent = milliseconds((cpu_seconds(pid) - before) / len(waits))
        found = f"{milliseconds(percentile(waits, 0.95))} (median {milliseconds(median(waits))}), {spent} a word"
        yield Figure(f"{WRITERS} visitors, each writes a word every 2 s: 95 % stand within", "–", found)
        yield Figure(f"memory: {WRITERS} visitors writing", "–", f"{resident_megabytes(pid):.0f} MB")


async def writers(address: str, size: int) -> list[float]:
    """So many visitors; the seconds from when a word was due until it stood there, all visitors'."""
    async with AsyncExitStack() as stack:
        links = [DECODER.format(seed) for seed in range(size)]
        all_of_them = [await stack.enter_async_context(visiting(address, link)) for link in links]
        start = perf_counter() + 0.5
        waits = await asyncio.gather(*(write(each, start + PAUSE * n / size) for n, each in enumerate(all_of_them)))
    return [wait for each in waits for wait in each]


async def write(visitor: Visitor, first: float) -> list[float]:
    """One visitor's waits."""
    waits = []
    for due in dues(first, WRITTEN):
        await asyncio.sleep(max(due - perf_counter(), 0))
        await visitor.trigger("words", "done", "word")
        waits.append(perf_counter() - due)
    return waits


if __name__ == "__main__":
    report([measure])
