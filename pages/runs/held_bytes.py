"""Counts the bytes of uploaded files that all sessions hold together, and refuses files beyond a limit. Sessions whose
visitors have left still count until Python frees their files.
"""

import weakref
from collections.abc import Iterable
from threading import RLock

from attention_core.record.bounded_cache import count_memory
from attention_core.record.errors import AttentionError

MAX_HELD_BYTES = 2**29  # most bytes that all sessions hold together
MEGABYTE = 2**20


class HeldBytes:
    """The bytes of objects that sessions hold. An object counts once, until Python frees it.

    most: the largest number of bytes.
    """

    def __init__(self, most: int = MAX_HELD_BYTES):
        self.most = most
        self.nbytes = 0
        self.counted: set[int] = set()  # id() of each counted object
        self.lock = RLock()  # reentrant, because an object may be freed while this thread holds the lock

    def add(self, objects: Iterable[object]) -> None:
        """Counts objects that a session is about to keep.

        Raises AttentionError (uploads_full), and counts nothing, if all sessions would hold more than the limit.
        """
        sizes = {id(each): (each, count_memory(each)) for each in objects}
        with self.lock:
            new = {key: sizes[key] for key in sizes.keys() - self.counted}
            total = sum(size for _, size in new.values())
            if self.nbytes + total > self.most:
                raise AttentionError("uploads_full", limit=self.most // MEGABYTE)
            self.nbytes += total
            self.counted |= new.keys()
        for key, (each, size) in new.items():
            weakref.finalize(each, self.remove, key, size).atexit = False

    def remove(self, key: int, size: int) -> None:
        """Subtracts the bytes of an object that Python has freed."""
        with self.lock:
            self.counted.discard(key)
            self.nbytes -= size


HELD = HeldBytes()
