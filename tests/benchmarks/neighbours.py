"""What a visitor pays for a neighbour: a light visitor's waits alone, and beside one who does something costly."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tests.benchmarks.crowd import Habits
from tests.benchmarks.figures import Figure, milliseconds, percentile, report
from tests.benchmarks.large import WORDS, link
from tests.benchmarks.process import cpu_seconds, most_resident_megabytes
from tests.benchmarks.visitor import visiting
from tests.browser.conftest import process_of
from tests.checkpoints.folders import save_folder

WARM_UP = 8  # changes
PAUSE = 1.0  # seconds between two changes of the light visitor
MOST = 3  # times the quiet wait
FILM_TOKENS = 170  # 9 runs of 8 heads: 2,080,800 numbers, of 2,097,152
REFRESH = 0.5  # seconds after which the panel of a training draws itself again
Loop = Callable[[str], Awaitable[None]]  # what the neighbour does until it is stopped


async def draw_film_strips(address: str) -> None:
    """The film strip at its limit, again for each sentence."""
    async with visiting(address, link(FILM_TOKENS)) as visitor:
        await visitor.open_drawer("film_drawer")
        for number in count():
            words = [WORDS[(place * (number + 2) + number) % len(WORDS)] for place in range(FILM_TOKENS)]
            await visitor.type_sentence(" ".join(words))


async def train(address: str, page: str, **chosen: str) -> None:
    """Trains one network after the other, and looks at its panel."""
    query = "&".join(f"{name}={value}" for name, value in chosen.items())
    async with visiting(address, query, page) as visitor:
        while True:
            visitor.widgets.pop(f"{page}_stop", None)
            await visitor.run()
            if f"{page}_stop" in visitor.widgets:
                for _ in range(20):
                    await asyncio.sleep(REFRESH)
                    await visitor.redraw(f"{page}_stop")
            else:
                await visitor.press(f"{page}_train")


async def open_pages(address: str, page: str, query: str) -> None:
    """Page after page, each with another number in its link."""
    for number in count(1):
        async with visiting(address, query.format(number), page):
            pass


async def open_large_pages(address: str) -> None:
    """Page after page of eight heads of 512 tokens."""
    for number in count():
        first = f"{WORDS[number % 12]}+{WORDS[number // 12 % 12]}"
        async with visiting(address, link(512).replace("+".join(WORDS[:2]), first, 1)):
            pass


async def export(address: str, names: tuple[str, ...]) -> None:
    """Files of one run, one after the other."""
    async with visiting(address, link(24)) as visitor:
        await visitor.open_drawer("export")
        for name in cycle(names):
            await visitor.download(f"export_{name}")


async def write_lecture(address: str, names: tuple[str, ...]) -> None:
    """The files of the longest lecture."""
    async with visiting(address, "lecture=forty_five_minutes", "present") as visitor:
        await visitor.open_drawer("lecture_files")
        for name in cycle(names):
            await visitor.download(f"export_{name}")


def save_models(place: Path) -> None:
    """Folders with tiny models."""
    save_folder(place / "gpt2", "GPT2LMHeadModel")
    save_folder(place / "bert", "BertModel")


async def open_models(address: str, folders: tuple[str, ...], text: str) -> None:
    """Models of folders, in turn."""
    async with visiting(address, "open=model", "maps") as visitor:
        for folder in cycle(folders):
            name = next(each for each in visitor.widgets if "FormSubmitter" in each)
            await visitor.run(
                visitor.state("c_maps_folder", string_value=folder),
                visitor.state("c_maps_text", string_value=text),
                visitor.state(name, trigger_value=True),
                part=visitor.parts[visitor.widgets[name]],
            )


LOOPS: dict[str, Loop] = {
    "film strips at their limit": draw_film_strips,
    "trainings (classifier)": partial(train, page="explanation", trained="vote", guess="0"),
    "trainings (dates)": partial(train, page="bottleneck"),
    "measurements (scale)": partial(open_pages, page="scale", query="seed={}"),
    "measurements (distance)": partial(open_pages, page="distance", query="draws=8&seed={}"),
    "pages of 8 heads of 512 tokens": open_large_pages,
    "exports: PNG": partial(export, names=("png",)),
    "exports: a page for phones": partial(export, names=("html",)),
    "opened models": partial(open_models, folders=("gpt2", "bert"), text="z" * 20),
    "a lecture's files: page": partial(write_lecture, names=("lecture_html",)),
    "a lecture's files: slides": partial(write_lecture, names=("lecture_pptx",)),
}


async def light_waits(address: str, changes: int) -> list[float]:
    """The seconds from when a change of the light visitor was due to its end."""
    async with visiting(address) as visitor:
        habits, waits, begun = Habits(visitor, seed=1), [], perf_counter() + 0.5
        for number in range(changes):
            due = begun + PAUSE * number
            await asyncio.sleep(max(due - perf_counter(), 0))
            await habits.change()
            waits.append(perf_counter() - due)
    return waits


async def waits_beside(address: str, loop: Loop, changes: int) -> list[float]:
    """The same beside a neighbour."""
    neighbour = asyncio.create_task(loop(address))
    await asyncio.sleep(2.0)
    waits = await light_waits(address, changes)
    if neighbour.done():
        await neighbour  # says why it ended
    neighbour.cancel()
    with suppress(asyncio.CancelledError):
        await neighbour
    return waits


def measure(runs: int, loops: dict[str, Loop] = LOOPS) -> Iterator[Figure]:
    """Each costly thing after a quiet time."""
    for name, loop in loops.items():
        with TemporaryDirectory() as place, process_of("app.py", ATTENTION_MODELS=place) as (address, pid):
            save_models(Path(place))
            asyncio.run(light_waits(address, WARM_UP))
            quiet = asyncio.run(light_waits(address, runs))
            before, begun = cpu_seconds(pid), perf_counter()
            beside = asyncio.run(waits_beside(address, loop, runs))
            busy = (cpu_seconds(pid) - before) / (perf_counter() - begun)
            memory = most_resident_megabytes(pid)
        one, other = percentile(quiet, 0.95), percentile(beside, 0.95)
        found = f"{other / one:.1f}× ({milliseconds(one)} to {milliseconds(other)}); {busy:.2f} cores, {memory:.0f} MB"
        yield Figure(f"a light visitor's p95 beside: {name}", f"≤ {MOST}×", found)


if __name__ == "__main__":
    report([measure])
