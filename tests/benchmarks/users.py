"""Many visitors at once: how long they wait, what a change costs the server, and how many are too many."""

import asyncio
import sys
from collections.abc import Iterator
from statistics import median

from tests.benchmarks.crowd import crowd
from tests.benchmarks.figures import Figure, milliseconds, percentile, report
from tests.benchmarks.process import cpu_seconds
from tests.browser.conftest import process_of

USERS, MORE = 20, 10  # visitors at first; so many more each time
MOST_WAIT, MOST_CPU = 0.150, 0.040  # seconds: 95 % wait less; a change costs the server less
TOO_LONG = 0.500  # seconds: with this p95 the server is full


def measure(runs: int) -> Iterator[Figure]:
    """p95 and processor time with 20 visitors, then more and more of them until p95 passes half a second."""
    with process_of("app.py") as (address, pid):
        asyncio.run(crowd(address, USERS, 3))  # warm-up
        spent = []
        waits = asyncio.run(crowd(address, USERS, runs, lambda: spent.append(cpu_seconds(pid))))
        cost = (cpu_seconds(pid) - spent[0]) / len(waits)
        p95 = percentile(waits, 0.95)
        every = f"{USERS} users, a change every 2 s"
        found = f"{milliseconds(p95)} (median {milliseconds(median(waits))})"
        yield Figure(f"{every}: 95 % of changes are answered within", f"≤ {milliseconds(MOST_WAIT)}", found)
        yield Figure(
            f"{every}: processor time of the server a change", f"≤ {milliseconds(MOST_CPU)}", milliseconds(cost)
        )
        users, passed = USERS, p95
        while p95 <= TOO_LONG:
            users, passed = users + MORE, p95
            p95 = percentile(asyncio.run(crowd(address, users, max(runs // 2, 5))), 0.95)
            print(f"{users} users: p95 {milliseconds(p95)}", file=sys.stderr, flush=True)
        most = f"{users - MORE if users > USERS else f'fewer than {USERS}'}"
        what = f"users until 95 % no longer within {milliseconds(TOO_LONG)}"
        yield Figure(what, "–", f"{most} ({milliseconds(passed)}), with {users} {milliseconds(p95)}")


if __name__ == "__main__":
    report([measure])
