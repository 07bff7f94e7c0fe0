"""Lets large blocks of memory go back to the system as soon as nobody uses them.

glibc takes a block of so many bytes from the system by itself and gives it back when it is freed, but moves that bound
up, to 32 MB, with each such block that is freed: later ones are cut out of larger areas, which stay. After pages with
8 heads of 512 tokens, whose steps are 17 MB each, hundreds of megabytes stood empty (mallopt(3), M_MMAP_THRESHOLD).
"""

import ctypes
from contextlib import suppress

LEAST_BYTES = 8 * 1024 * 1024  # of a block that is given back; smaller ones are used again, which takes less time
M_MMAP_THRESHOLD = -3  # of malloc.h; a bound that is set does not move


def give_back() -> None:
    """Sets the bound for this process, where its C library has one: others give memory back by themselves."""
    with suppress(OSError, AttributeError, TypeError):  # Windows; no mallopt, as of macOS and musl
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LEAST_BYTES)
