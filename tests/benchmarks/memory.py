"""The server's memory: with twenty visitors, and over a thousand changes of one."""

import asyncio
import sys
from collections.abc import Iterator

from tests.benchmarks.crowd import Habits, crowd
from tests.benchmarks.figures import Figure, report
from tests.benchmarks.process import resident_megabytes
from tests.benchmarks.visitor import visiting
from tests.browser.conftest import process_of

USERS, CHANGES, EVERY = 20, 1000, 100
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


def measure(runs: int) -> Iterator[Figure]:
    """Of a fresh server each, so that no figure holds what another one left."""
    with process_of("app.py") as (address, pid):
        asyncio.run(crowd(address, USERS, min(runs, 10)))
        yield Figure(f"memory with {USERS} users", "–", f"{resident_megabytes(pid):.0f} MB")
    with process_of("app.py") as (address, pid):
        megabytes = asyncio.run(curve(address, pid))
    half, end = megabytes[len(megabytes) // 2], megabytes[-1]
    found = f"{(end - half) / half:+.1%} ({' '.join(f'{each:.0f}' for each in megabytes)} MB)"
    yield Figure(f"memory, last {CHANGES // 2} of {CHANGES:,} changes of one user", f"≤ +{MOST_GROWTH:.0%}", found)


if __name__ == "__main__":
    report([measure])
