"""What a thread has freed goes back to the system."""

import platform
from pathlib import Path
from threading import Thread

import pytest

from pages.runs.freed_memory import give_back

MEGABYTES = 40
OF_GLIBC = platform.libc_ver()[0] == "glibc"


def resident_megabytes() -> float:
    """What this process holds of its own, in memory at the moment."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


@pytest.mark.skipif(not OF_GLIBC, reason="malloc_trim is glibc's")
def test_memory_that_a_thread_has_freed_goes_back():
    last = []

    def fill_and_free():
        blocks = [bytes(100_000) + b"." for _ in range(10 * MEGABYTES)]  # too small for a mapping of its own
        last.append(blocks.pop())  # behind all others: what lies before it stays with the thread's area

    thread = Thread(target=fill_and_free)
    thread.start()
    thread.join()
    before = resident_megabytes()
    give_back()
    assert before - resident_megabytes() > MEGABYTES / 2
