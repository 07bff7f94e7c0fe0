"""An LRU cache of runs that all sessions share without copies, because runs are never changed."""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from functools import update_wrapper
from threading import Lock

from attention_core import Trace
from attention_core.inputs.matrix_values import count_packed_bytes
from pages.runs.freed_memory import give_back
from pages.runs.run_inputs import RunInputs
from pages.runs.upload_store import UploadedArrays
from pages.setup.setup import RunSetup

Run = tuple[Trace, RunInputs]
LARGE_BYTES = 16 * 2**20  # bytes of a large run: when one is evicted, memory of results computed from it is unused too


def count_bytes(run: Run) -> int:
    """The bytes of a run's tensors, matrices and typed values; shared storage counts once."""
    trace, inputs = run
    storages = [step.stored.untyped_storage() for step in trace.steps.values()]
    of_steps = {storage.data_ptr(): storage.nbytes() for storage in storages}
    matrices = [*inputs.matrices.values(), *inputs.bases.values()]
    of_inputs = {id(matrix): matrix.nbytes for matrix in matrices if matrix is not None}
    typed = sum(map(count_packed_bytes, inputs.typed.values()))
    return sum(of_steps.values()) + sum(of_inputs.values()) + typed


class KeptRuns:
    """A function that returns the run of a RunSetup, with an LRU cache.

    Both the bytes and the number of the cached runs are limited, but the latest run is always kept. If several threads
    request the same run at the same time, one computes it and the others wait.
    """

    def __init__(self, compute: Callable[[RunSetup, UploadedArrays | None], Run], most_bytes: int, most: int):
        self.compute, self.most_bytes, self.most = compute, most_bytes, most
        self.runs: OrderedDict[str, Future[Run]] = OrderedDict()  # by the repr of a RunSetup, which contains all fields
        self.sizes: dict[str, int] = {}  # bytes of each run that is computed
        self.lock = Lock()
        update_wrapper(self, compute)

    def __call__(self, setup: RunSetup, arrays: UploadedArrays | None) -> Run:
        """The run of a RunSetup, cached or computed. An error is raised and not cached."""
        key = repr(setup)
        with self.lock:
            is_kept = key in self.runs
            future = self.runs.setdefault(key, Future())
            self.runs.move_to_end(key)
        if is_kept:
            return future.result()
        try:
            run = self.compute(setup, arrays)
        except BaseException as error:
            self.forget(key, future)
            future.set_exception(error)
            raise
        future.set_result(run)
        self.enter(key, future, count_bytes(run))
        return run

    def enter(self, key: str, future: Future[Run], size: int) -> None:
        """Records the size of a computed run, and evicts the least recently used runs beyond the limits."""
        largest = 0  # bytes of the largest evicted run
        with self.lock:
            if self.runs.get(key) is not future:  # the cache was cleared meanwhile
                return
            self.sizes[key] = size
            computed = [each for each in self.runs if each in self.sizes]
            for each in computed[:-1]:
                if sum(self.sizes.values()) <= self.most_bytes and len(self.sizes) <= self.most:
                    break
                del self.runs[each]
                largest = max(largest, self.sizes.pop(each))
        if largest >= LARGE_BYTES:
            give_back()

    def forget(self, key: str, future: Future[Run]) -> None:
        """Removes the entry of a run whose computation failed."""
        with self.lock:
            if self.runs.get(key) is future:
                del self.runs[key]

    def clear(self) -> None:
        """Removes all runs."""
        with self.lock:
            self.runs.clear()
            self.sizes.clear()
