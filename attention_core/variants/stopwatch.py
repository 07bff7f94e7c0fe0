"""How long a run takes on this machine, and with which power that grows.

A measurement is the fastest of a few runs after one that does not count, because whatever else the machine does can
only make a run slower.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch

from attention_core.record.errors import AttentionError

RUNS, BUDGET = 5, 0.15  # at most so many runs a measurement, and none begins after so many seconds


@dataclass(frozen=True)
class Timing:
    """Wall time of the fastest run, in seconds, and of how many."""

    seconds: float
    runs: int


def timed(run: Callable[[], object], device: str = "cpu", clock: Callable[[], float] = perf_counter) -> Timing:
    """The time of the fastest of a few runs, after one that does not count.

    >>> ticks = iter([0.0, 3.0])  # seconds: after so long a run there is no second one
    >>> timed(lambda: None, clock=lambda: next(ticks))
    Timing(seconds=3.0, runs=1)
    """
    with torch.inference_mode():
        finished(run, device)
        seconds: list[float] = []
        while len(seconds) < RUNS and sum(seconds) < BUDGET:
            start = clock()
            finished(run, device)
            seconds.append(clock() - start)
    return Timing(min(seconds), len(seconds))


def finished(run: Callable[[], object], device: str) -> None:
    """Runs, and waits until the device has done what it was told."""
    run()
    if device == "cuda":
        torch.cuda.synchronize()


def fitted_slope(lengths: Sequence[float], seconds: Sequence[float]) -> float:
    r"""The power with which the time grows, by least squares in log-log:
    $\sum (x - \bar x)(y - \bar y) / \sum (x - \bar x)^2$ with x = log length, y = log seconds.

    lengths, seconds: as many of both, all above 0, at least two different lengths. 1 means in proportion to the length,
    2 to its square. Raises AttentionError (a ValueError) for others.

    >>> round(fitted_slope([10, 20, 40], [3, 12, 48]), 12)
    2.0
    """
    if len(lengths) != len(seconds) or len(set(lengths)) < 2 or min(*lengths, *seconds) <= 0:
        raise AttentionError("slope_points", lengths=list(lengths), seconds=list(seconds))
    x, y = ([math.log(number) for number in numbers] for numbers in (lengths, seconds))
    return statistics.linear_regression(x, y).slope
