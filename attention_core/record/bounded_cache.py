"""Caches results of functions up to a number of bytes together; the least recently used ones are removed first."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from functools import wraps
from threading import Lock

import numpy as np
from torch import Tensor, nn


class BoundedCache:
    """A cache that several functions share; `keep` makes a function cache its results in it.

    Bytes and number of the results are limited, but the latest result is always kept. A tensor that several results
    contain counts once. If several threads request the same result at the same time, one computes it and the others
    wait.

    most_bytes: the largest number of bytes of all results together. most: the largest number of results. tell_removed:
    is called, after results were removed, with the number of bytes that are free then.
    """

    def __init__(self, most_bytes: int, most: int, tell_removed: Callable[[int], object] = lambda freed: None):
        self.most_bytes, self.most, self.tell_removed = most_bytes, most, tell_removed
        self.results: OrderedDict[Hashable, Future] = OrderedDict()  # key of a call -> its Future
        self.held: dict[Hashable, Mapping[int, int]] = {}  # key of a finished call -> {address of a memory: its bytes}
        self.holders: Counter[int] = Counter()  # address of a memory -> number of results that contain it
        self.nbytes = 0  # bytes of all results together
        self.lock = Lock()

    def keep(self, function: Callable, key: Callable[..., Hashable] | None = None) -> Callable:
        """Decorator that caches the results of a function; nothing is cached of a call that raises an error.

        key: returns what identifies a call, from its arguments; None for all arguments, which must be hashable. The
        function gets an attribute `cache_clear`, which removes its results.

        >>> cache = BoundedCache(most_bytes=800, most=2)
        >>> @cache.keep
        ... def count_up(size):
        ...     print("computes", size)
        ...     return np.arange(size)
        >>> count_up(3)
        computes 3
        array([0, 1, 2])
        >>> count_up(3)
        array([0, 1, 2])
        >>> cache.nbytes
        24
        """

        @wraps(function)
        def cached(*args, **kwargs):
            given = (args, *kwargs.items()) if key is None else key(*args, **kwargs)
            return self.get((function, given), lambda: function(*args, **kwargs))

        cached.cache_clear = lambda: self.clear(function)
        return cached

    def get(self, key: Hashable, compute: Callable[[], object]) -> object:
        """Return the result of a call from the cache, or compute it."""
        with self.lock:
            is_kept = key in self.results
            future = self.results.setdefault(key, Future())
            self.results.move_to_end(key)
        if is_kept:
            return future.result()
        try:
            result = compute()
        except BaseException as error:
            with self.lock:
                if self.results.get(key) is future:
                    del self.results[key]
            future.set_exception(error)
            raise
        future.set_result(result)
        self.enter(key, future, dict(list_memory(result)))
        return result

    def enter(self, key: Hashable, future: Future, held: Mapping[int, int]) -> None:
        """Add a finished result's bytes to the total, and remove the least recently used results while a limit is
        exceeded.

        held: {address of a memory that the result contains: its bytes}.
        """
        with self.lock:
            if self.results.get(key) is not future:  # the cache was cleared during the computation
                return
            self.held[key] = held
            self.nbytes += sum(size for address, size in held.items() if not self.holders[address])
            self.holders.update(held.keys())
            before = self.nbytes
            computed = [each for each in self.results if each in self.held]
            for each in computed[:-1]:
                if self.nbytes <= self.most_bytes and len(self.held) <= self.most:
                    break
                self.remove(each)
            freed = before - self.nbytes
        if freed:
            self.tell_removed(freed)

    def remove(self, key: Hashable) -> None:
        """Remove a finished result from the cache; the caller must hold the lock."""
        del self.results[key]
        for address, size in self.held.pop(key).items():
            self.holders[address] -= 1
            if not self.holders[address]:
                del self.holders[address]
                self.nbytes -= size

    def clear(self, function: Callable | None = None) -> None:
        """Remove the cached results of one function, or of all functions."""
        with self.lock:
            for key in [key for key in self.results if function in (None, key[0])]:
                if key in self.held:
                    self.remove(key)
                else:
                    del self.results[key]  # a thread still computes this result; `enter` will not store it


def count_memory(result: object) -> int:
    """Return the number of bytes of all tensors, arrays and `bytes` in a result; shared memory counts once.

    >>> numbers = np.zeros((2, 3))
    >>> count_memory({"whole": numbers, "part": (numbers[0], b"abc")})
    51
    """
    return sum(dict(list_memory(result)).values())


def list_memory(result: object) -> Iterator[tuple[int, int]]:
    """Yield (address, number of bytes) of the memory of every tensor, array and `bytes` that a result contains.

    A memory that several of them share is yielded each time, with the same address.
    """
    waiting, seen = [result], set()
    while waiting:
        value = waiting.pop()
        if value is None or isinstance(value, str | int | float | type) or id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Tensor():
                storage = value.untyped_storage()
                yield storage.data_ptr(), storage.nbytes()
            case np.ndarray():
                yield find_memory(value)
            case bytes():
                yield id(value), len(value)
            case Mapping():
                waiting += value.values()
            case list() | tuple() | set() | frozenset():
                waiting += value
            case nn.Module():
                waiting += [*value.parameters(), *value.buffers()]
            case _ if not callable(value):
                waiting += getattr(value, "__dict__", {}).values()


def find_memory(array: np.ndarray) -> tuple[int, int]:
    """Return (address, number of bytes) of an array's memory; that of a view is the memory of the whole array."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.__array_interface__["data"][0], array.nbytes
