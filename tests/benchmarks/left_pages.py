"""The server's memory while 300 large pages are opened and left, each as a session of its own."""

import asyncio
import sys
from collections.abc import Iterator
from itertools import islice, product

from tests.benchmarks.figures import Figure, report
from tests.benchmarks.large import WORDS, link
from tests.benchmarks.process import most_resident_megabytes, resident_megabytes
from tests.benchmarks.visitor import visiting
from tests.browser.conftest import process_of

PAGES, TOKENS, EVERY = 300, 512, 50  # of 8 heads; the memory is read after so many pages
MOST_MEGABYTES = 1000


async def leave_pages(address: str, pid: int) -> list[float]:
    """Megabytes after every fiftieth page of a text of its own that was opened, and left."""
    megabytes = []
    for number, first_words in enumerate(islice(product(WORDS, repeat=3), PAGES), 1):
        text = link(TOKENS).replace("+".join(WORDS[:3]), "+".join(first_words), 1)
        async with visiting(address, text):
            pass
        if number % EVERY == 0:
            megabytes.append(resident_megabytes(pid))
            print(f"{number} pages left: {megabytes[-1]:.0f} MB", file=sys.stderr, flush=True)
    return megabytes


def measure(runs: int) -> Iterator[Figure]:
    """Of a fresh server, started as the README says; how often makes no difference: the pages are what is repeated."""
    with process_of("app.py") as (address, pid):
        megabytes = asyncio.run(leave_pages(address, pid))
        most = most_resident_megabytes(pid)
    after = ", ".join(f"{each:.0f}" for each in megabytes)
    what = f"memory while {PAGES} pages of 8 heads of {TOKENS} tokens are opened and left: the most; after each {EVERY}"
    yield Figure(what, f"≤ {MOST_MEGABYTES} MB", f"{most:.0f} MB; {after} MB")


if __name__ == "__main__":
    report([measure])
