"""The server's memory: with twenty visitors, over a thousand changes of one, and after 300 large pages were left."""

import asyncio
import sys
from collections.abc import Iterator
from itertools import islice, product

from tests.benchmarks.crowd import Habits, crowd
from tests.benchmarks.figures import Figure, report
from tests.benchmarks.large import WORDS, link
from tests.benchmarks.process import resident_megabytes
from tests.benchmarks.visitor import visiting
from tests.browser.conftest import process_of

USERS, CHANGES, EVERY = 20, 1000, 100
LEFT_PAGES, LEFT_TOKENS, MOST_MEGABYTES = 300, 512, 1000  # pages of 8 heads that are opened, and left
MOST_GROWTH = 0.05  # of the memory half way: from there on the caches are as full as they get


async def curve(address: str, pid: int) -> list[float]:
    """Megabytes before the first change and after every hundredth, as fast as the server answers."""
    async with visiting(address) as visitor:
        habits, megabytes = Habits(visitor, seed=0), [resident_megabytes(pid)]
        for _ in range(CHANGES // EVERY):
            for _ in range(EVERY):
                await habits.change()
            megabytes.append(resident_megabytes(pid))
            print(f"{EVERY * (len(megabytes) - 1)} changes: {megabytes[-1]:.0f} MB", file=sys.stderr, flush=True)
    return megabytes


async def leave_pages(address: str, pid: int) -> list[float]:
    """Megabytes after each tenth page of a text of its own that was opened, and left."""
    megabytes = []
    for number, first_words in enumerate(islice(product(WORDS, repeat=3), LEFT_PAGES), 1):
        text = link(LEFT_TOKENS).replace("+".join(WORDS[:3]), "+".join(first_words), 1)
        async with visiting(address, text):
            pass
        if number % 10 == 0:
            megabytes.append(resident_megabytes(pid))
            print(f"{number} pages left: {megabytes[-1]:.0f} MB", file=sys.stderr, flush=True)
    return megabytes


def measure(runs: int) -> Iterator[Figure]:
    """Of a fresh server each, so that no figure holds what another one left."""
    with process_of("app.py") as (address, pid):
        asyncio.run(crowd(address, USERS, min(runs, 10)))
        yield Figure(f"memory with {USERS} users", "–", f"{resident_megabytes(pid):.0f} MB")
    with process_of("app.py") as (address, pid):
        megabytes = asyncio.run(curve(address, pid))
    with process_of("app.py", MALLOC_MMAP_THRESHOLD_="8388608") as (address, pid):  # as docs/running.md says
        left = asyncio.run(leave_pages(address, pid))
    what = f"memory after {LEFT_PAGES} pages of 8 heads of {LEFT_TOKENS} tokens, each left (the most on the way)"
    yield Figure(what, f"≤ {MOST_MEGABYTES} MB", f"{left[-1]:.0f} MB ({max(left):.0f} MB)")
    half, end = megabytes[len(megabytes) // 2], megabytes[-1]
    found = f"{(end - half) / half:+.1%} ({' '.join(f'{each:.0f}' for each in megabytes)} MB)"
    yield Figure(f"memory, last {CHANGES // 2} of {CHANGES:,} changes of one user", f"≤ +{MOST_GROWTH:.0%}", found)


if __name__ == "__main__":
    report([measure])
