"""Gives memory that nobody uses any more back to the system.

C's malloc keeps what is freed, apart for each thread that asked for it, and every run of a script has a thread of its
own: after pages of 8 heads of 512 tokens, whose steps take 16 MB each, hundreds of megabytes stood empty.
"""


def give_back() -> None:
    """Lets the C library give back what stands empty: by malloc_trim(3) with glibc; elsewhere this does nothing.

    Arrow calls it for the pool that it uses, which becomes the C library's: a page's tables are small.
    """
    import pyarrow  # with the pages, not with the server

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    pyarrow.default_memory_pool().release_unused()
