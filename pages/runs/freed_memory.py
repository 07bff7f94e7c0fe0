"""Returns unused memory of this process to the operating system.

C's malloc keeps freed memory, separately for each thread, and each script run has its own thread. After pages with 8
heads of 512 tokens, whose steps take 16 MB each, the process would keep hundreds of unused megabytes.
"""


def give_back() -> None:
    """Makes the C library return unused memory to the operating system; this has an effect only with glibc
    (malloc_trim).

    Arrow calls malloc_trim when its memory pool is released. Therefore Arrow's pool is set to the pool of the C
    library, which is sufficient, because the tables of a page are small.
    """
    import pyarrow  # this late import keeps the start of the server fast; the pages import pyarrow anyway

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    pyarrow.default_memory_pool().release_unused()
