"""Counts the bytes that all sessions together hold of uploaded files, those whose visitors have left included, and
refuses more than a limit.
"""

import weakref
from collections.abc import Iterable
from threading import RLock

from attention_core.record.bounded_cache import count_memory
from attention_core.record.errors import AttentionError

MAX_HELD_BYTES = 2**29  # of all sessions together
MEGABYTE = 2**20


class HeldBytes:
    """The bytes of objects that sessions hold. An object counts once, until Python frees it.

    most: the largest number of bytes.
    """

    def __init__(self, most: int = MAX_HELD_BYTES):
        self.most = most
        self.nbytes = 0
        self.counted: set[int] = set()  # id of each object that counts
        self.lock = RLock()  # reentrant: an object may be freed while this thread holds it

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
        """Counts an object no longer, because it was freed."""
        with self.lock:
            self.counted.discard(key)
            self.nbytes -= size


HELD = HeldBytes()
