"""The time of a run on this machine, and the power with which it grows.

A measurement is the fastest of a few runs after a warm-up run, because other work on the machine can only make a run
slower.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch

from attention_core.record.errors import AttentionError

MAX_TIMED_RUNS = 5  # largest number of runs of one measurement
TIMING_BUDGET_SECONDS = 0.15  # after this total time, no further run of a measurement begins


@dataclass(frozen=True)
class Timing:
    """Wall time of the fastest run, in seconds, and the number of runs."""

    seconds: float
    runs: int


def time_run(run: Callable[[], object], device: str = "cpu", clock: Callable[[], float] = perf_counter) -> Timing:
    """Measure the time of the fastest of a few runs, after a warm-up run.

    >>> ticks = iter([0.0, 3.0])  # seconds: after so long a run there is no second one
    >>> time_run(lambda: None, clock=lambda: next(ticks))
    Timing(seconds=3.0, runs=1)
    """
    with torch.inference_mode():
        run_to_end(run, device)
        seconds: list[float] = []
        while len(seconds) < MAX_TIMED_RUNS and sum(seconds) < TIMING_BUDGET_SECONDS:
            start = clock()
            run_to_end(run, device)
            seconds.append(clock() - start)
    return Timing(min(seconds), len(seconds))


def run_to_end(run: Callable[[], object], device: str) -> None:
    """Call `run`, and wait until the device is done."""
    run()
    if device == "cuda":
        torch.cuda.synchronize()


def fit_slope(lengths: Sequence[float], seconds: Sequence[float]) -> float:
    r"""Fit the exponent with which the time grows with the length, by least squares in log-log.

    $\sum (x - \bar x)(y - \bar y) / \sum (x - \bar x)^2$ with x = log length, y = log seconds.

    lengths, seconds: equally many, all above 0, at least two different lengths; else raises AttentionError (a
    ValueError). The result 1 means in proportion to the length, 2 to its square.

    >>> round(fit_slope([10, 20, 40], [3, 12, 48]), 12)
    2.0
    """
    are_pairs = len(lengths) == len(seconds)
    has_two_lengths = len(set(lengths)) > 1
    if not are_pairs or not has_two_lengths or min(*lengths, *seconds) <= 0:
        raise AttentionError(
            "slope_points",
            lengths=list(lengths),
            seconds=list(seconds),
        )
    x = [math.log(length) for length in lengths]
    y = [math.log(time) for time in seconds]
    line = statistics.linear_regression(x, y)
    return line.slope
