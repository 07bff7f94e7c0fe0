"""What is kept of the runs that were asked for last: within bounds, one computation for all who ask, no refusal."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
import torch

from attention_core import AttentionError, Trace
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.record.bounded_cache import BoundedCache, count_memory
from attention_core.record.trace import Step
from pages.runs import cache
from pages.runs.compute import compute_run
from pages.runs.run_inputs import RunInputs
from pages.setup.setup import DEFAULT_SETUP, RunSetup


def run_of(count: int):
    """A run of so many numbers of 8 bytes."""
    return Trace({"x": Step("x", torch.zeros(count, dtype=torch.float64), ("T",))}), RunInputs()


def setup(seed: int) -> RunSetup:
    return RunSetup(seed=seed)


@pytest.fixture
def computed() -> list[int]:
    """The seeds that were computed, in order."""
    return []


def keep(compute, tell_removed=lambda freed: None):
    """The function with a cache of at most three runs, and 8,000 bytes."""
    return BoundedCache(8000, 3, tell_removed).keep(compute, key=lambda setup, arrays: repr(setup))


@pytest.fixture
def kept(computed):
    """At most three runs, and 8,000 bytes: each has as many numbers as its seed says."""

    def compute(setup: RunSetup, arrays):
        computed.append(setup.seed)
        return run_of(setup.seed)

    return keep(compute)


def test_a_run_is_computed_once_and_is_the_same_for_all(kept, computed):
    assert kept(setup(7), None) is kept(setup(7), None)
    assert computed == [7]
    kept.cache_clear()
    kept(setup(7), None)
    assert computed == [7, 7]


def test_who_was_asked_for_least_recently_leaves_first(kept, computed):
    for seed in (1, 2, 3, 1, 4):  # 4 is one too many, and 2 was asked for longest ago
        kept(setup(seed), None)
    for seed in (1, 3, 4, 2):
        kept(setup(seed), None)
    assert computed == [1, 2, 3, 4, 2]


def test_all_runs_keep_to_their_bytes_but_for_the_last(kept, computed):
    for seed in (401, 500, 100, 500, 100):  # 401 and 500 numbers are 7,208 bytes; with 100 more they are 8,008
        kept(setup(seed), None)
    assert computed == [401, 500, 100]
    for seed in (1009, 1009, 100):
        kept(setup(seed), None)
    assert computed == [401, 500, 100, 1009, 100]


def test_who_asks_meanwhile_waits_for_the_same_run():
    begun, going_on, runs = Event(), Event(), []

    def compute(setup: RunSetup, arrays):
        begun.set()
        assert going_on.wait(30)
        runs.append(run_of(1))
        return runs[-1]

    kept = keep(compute)
    with ThreadPoolExecutor(max_workers=4) as threads:
        first = threads.submit(kept, DEFAULT_SETUP.run, None)
        assert begun.wait(30)
        others = [threads.submit(kept, DEFAULT_SETUP.run, None) for _ in range(3)]
        going_on.set()
        assert all(each.result() is first.result() for each in others)
    assert len(runs) == 1


def test_a_refusal_is_raised_for_each_and_not_kept():
    cache = BoundedCache(8000, 3)
    kept = cache.keep(compute_run, key=lambda setup, arrays: repr(setup))
    for _ in range(2):
        with pytest.raises(AttentionError):
            kept(RunSetup(text=""), None)
    assert not cache.results and not cache.held and not cache.nbytes


def test_numbers_that_two_steps_show_count_once():
    numbers = torch.zeros(1, 3, 4, dtype=torch.float64)
    steps = {"x": Step("x", numbers, ("B", "T", "D")), "q": Step("q", numbers.view(1, 4, 3), ("B", "T", "D"))}
    inputs = RunInputs(
        typed={"x": pack_matrix([[1, 2]])}, matrices={"w_q": np.zeros((2, 5))}, bases={"w_q": np.ones((2, 5))}
    )
    assert count_memory((Trace(steps), RunInputs())) == 12 * 8
    assert count_memory((Trace(steps), inputs)) == 12 * 8 + 2 * 10 * 8 + 2 * 8


def test_memory_is_given_back_when_a_large_run_leaves(monkeypatch):
    given_back = []
    monkeypatch.setattr(cache, "give_back", lambda: given_back.append(True))
    monkeypatch.setattr(cache, "LARGE_BYTES", 4000)
    kept = keep(lambda setup, arrays: run_of(setup.seed), cache.give_back_large)
    for seed, times in ((499, 0), (501, 0), (1, 0), (500, 1)):  # with 1 the 499 leave, which are few; with 500 the 501
        kept(setup(seed), None)
        assert len(given_back) == times
