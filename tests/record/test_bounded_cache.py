"""The cache that several functions share: its bytes are those of the memory that is really held."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from attention_core.record.bounded_cache import BoundedCache, count_memory


def test_functions_share_one_limit():
    cache = BoundedCache(most_bytes=8 * 100, most=10)
    computed = []

    @cache.keep
    def zeros(count):
        computed.append(("zeros", count))
        return torch.zeros(count, dtype=torch.float64)

    @cache.keep
    def counted(count):
        computed.append(("counted", count))
        return np.arange(count, dtype=np.int64)

    zeros(31)
    counted(37)
    assert cache.nbytes == 8 * (31 + 37)
    zeros(31)
    counted(41)  # 109 numbers, and 37 were asked for longest ago
    assert cache.nbytes == 8 * (31 + 41)
    zeros(31), counted(41), counted(37)
    assert computed == [("zeros", 31), ("counted", 37), ("counted", 41), ("counted", 37)]


def test_what_leaves_is_freed():
    cache = BoundedCache(most_bytes=8 * 100, most=10)
    read = cache.keep(lambda size: torch.zeros(size, dtype=torch.float64))
    watched = weakref.ref(read(53))
    read(47)
    assert watched() is not None
    read(2)
    gc.collect()
    assert watched() is None
    assert cache.nbytes == 8 * 49


def test_memory_of_several_results_counts_until_the_last_of_them_leaves():
    cache = BoundedCache(most_bytes=8 * 100, most=2)
    whole = torch.zeros(7, 11, dtype=torch.float64)
    row = cache.keep(lambda number: {"row": whole[number], "own": torch.ones(3, dtype=torch.float64)})
    row(0)
    assert cache.nbytes == 8 * (77 + 3)
    row(1)
    assert cache.nbytes == 8 * (77 + 6)
    row(2)  # only two results
    assert cache.nbytes == 8 * (77 + 6)
    row.cache_clear()
    assert cache.nbytes == 0 and not cache.holders


def test_one_function_is_forgotten_alone():
    cache = BoundedCache(most_bytes=800, most=10)
    one, other = cache.keep(lambda: torch.zeros(3)), cache.keep(lambda: torch.zeros(5))
    first, second = one(), other()
    one.cache_clear()
    assert one() is not first and other() is second


class Recursive:
    """An object that contains itself."""

    def __init__(self):
        self.me, self.numbers = self, [np.zeros(5), {"more": (torch.zeros(7), None)}]


@pytest.mark.parametrize(
    ("result", "wanted"),
    [
        (None, 0),
        ("text" * 100, 0),
        (b"123", 3),
        (torch.zeros(3, 5)[1:, :2], 60),  # the whole storage stays while a part of it is held
        (np.zeros((3, 5))[1:], 120),
        ([torch.zeros(3), torch.zeros(3)], 24),
        (SimpleNamespace(a=torch.zeros(3), b={"c": np.zeros(2)}), 28),
        (torch.nn.Linear(3, 5), 80),
        (Recursive(), 68),
        (torch.zeros, 0),
    ],
)
def test_bytes_of_a_result(result, wanted):
    assert count_memory(result) == wanted
