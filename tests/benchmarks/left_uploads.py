"""The server's memory while visitors each upload the largest file of attention maps, and leave."""

import asyncio
import io
import sys
from collections.abc import Iterator
from urllib.error import HTTPError

import numpy as np

from tests.benchmarks.figures import Figure, report
from tests.benchmarks.process import most_resident_megabytes, resident_megabytes
from tests.benchmarks.visitor import visiting
from tests.browser.conftest import process_of

VISITORS, EVERY = 80, 20
SHAPE = (12, 12, 128, 128)  # of BERT base: 9.4 MB
BOX = "c_maps_upload"


def make_maps() -> bytes:
    """A file of the largest maps, even weights."""
    file = io.BytesIO()
    np.save(file, np.full(SHAPE, 1 / SHAPE[-1], dtype=np.float32))
    return file.getvalue()


async def leave_files(address: str, pid: int) -> tuple[list[float], int]:
    """Megabytes after every tenth visitor, and how many were refused by the server before the file was read."""
    content, megabytes, refused = make_maps(), [resident_megabytes(pid)], 0
    for number in range(1, VISITORS + 1):
        async with visiting(address, "", "maps") as visitor:
            try:
                await visitor.upload(address, BOX, f"maps {number}.npy", content)
            except HTTPError:
                refused += 1
        if number % EVERY == 0:
            megabytes.append(resident_megabytes(pid))
            print(f"{number} visitors left: {megabytes[-1]:.0f} MB", file=sys.stderr, flush=True)
    return megabytes, refused


def measure(runs: int) -> Iterator[Figure]:
    """Of a fresh server; how often makes no difference: the visitors are what is repeated."""
    with process_of("app.py") as (address, pid):
        megabytes, refused = asyncio.run(leave_files(address, pid))
        most = most_resident_megabytes(pid)
    after = ", ".join(f"{each:.0f}" for each in megabytes)
    what = f"memory while {VISITORS} visitors upload 9.4 MB of maps and leave: the most; before, after each {EVERY}"
    yield Figure(what, "–", f"{most:.0f} MB; {after} MB; {refused} uploads refused unread")


if __name__ == "__main__":
    report([measure])
