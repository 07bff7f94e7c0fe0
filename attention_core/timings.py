"""What attention costs on this machine, measured: one call is one measurement of less than half a second, so that a
page shows each as it comes and can stop between two.

A measurement is the fastest of a few runs after one that does not count, because whatever else the machine does can
only make a run slower; the inputs are random, from a fixed seed. What is measured is what the explorer runs: attend_qkv
with every step kept, or attend_sparse; one head, width 64.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from attention_core.attention import attend_qkv
from attention_core.config import one_of
from attention_core.errors import AttentionError
from attention_core.precision import PRECISIONS
from attention_core.sparse import Local, Pattern, Strided, attend_sparse, computed_pairs, multiply_adds

WIDTH = 64
BATCH = 8  # sequences, together or one by one
WINDOW, STRIDE, BLOCK = 32, 16, 128  # of the patterns: each query has 65 keys, or a 16th of all
LOCAL, STRIDED = Local(WINDOW, BLOCK), Strided(STRIDE)
RUNS, BUDGET = 5, 0.15  # at most so many runs a measurement, and none begins after so many seconds

Tensors = tuple[Tensor, Tensor, Tensor]  # q, k and v


# ---- what is measured ------------------------------------------------------------------------------------------------
def full(tensors: Tensors) -> Tensor:
    """All pairs, of all sequences at once."""
    return attend_qkv(*tensors)["head_outputs"]


def local(tensors: Tensors) -> Tensor:
    """Keys at most WINDOW away, the others never computed."""
    return attend_sparse(*tensors, LOCAL).output


def strided(tensors: Tensors) -> Tensor:
    """Every STRIDE-th key, the others never computed."""
    return attend_sparse(*tensors, STRIDED).output


def one_by_one(tensors: Tensors) -> Tensor:
    """All pairs, each sequence in a run of its own."""
    return torch.cat([full(sequence) for sequence in zip(*(tensor.split(1) for tensor in tensors), strict=True)])


@dataclass(frozen=True)
class Kind:
    """Something to measure: how it runs, on how many sequences, the lengths that are offered, and which pairs it
    computes, where not all. The longest takes less than half a second on two cores, all runs of its measurement
    together."""

    run: Callable[[Tensors], Tensor]
    batch: int
    lengths: tuple[int, ...]
    pattern: Pattern | None = None


LENGTHS = (64, 128, 256, 512, 1024, 2048)
SHORT = (16, 32, 64, 128, 256, 512)

KINDS = {
    "full": Kind(full, 1, LENGTHS),
    "local": Kind(local, 1, LENGTHS, LOCAL),
    "strided": Kind(strided, 1, LENGTHS, STRIDED),
    "together": Kind(full, BATCH, SHORT),
    "one_by_one": Kind(one_by_one, BATCH, SHORT),
}


def products(kind: str, length: int) -> int:
    """The multiply-adds of what is measured: two of WIDTH each for every pair that is computed.

    >>> products("full", 64), products("local", 64), products("together", 64)
    (524288, 524288, 4194304)
    """
    chosen = KINDS[one_of("kind", kind, tuple(KINDS))]
    pairs = length * length if chosen.pattern is None else computed_pairs(chosen.pattern, length, length)
    return multiply_adds(chosen.batch * pairs, WIDTH, WIDTH)


# ---- a measurement ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Timing:
    """Wall time of the fastest run, in seconds, and of how many."""

    seconds: float
    runs: int


def devices() -> tuple[str, ...]:
    """Where measurements can run: the CPU, and a CUDA GPU where there is one."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def measure(kind: str, length: int, *, dtype: str = "float32", device: str = "cpu") -> Timing:
    """Measures one kind at one length, now.

    kind: one of KINDS. length: one of its lengths, in tokens. dtype: one of PRECISIONS. device: one of devices().
    Raises AttentionError (a ValueError) for another choice.

    >>> timing = measure("full", 64)
    >>> timing.seconds > 0, 1 <= timing.runs <= RUNS
    (True, True)
    """
    chosen = KINDS[one_of("kind", kind, tuple(KINDS))]
    if length not in chosen.lengths:
        raise AttentionError("unknown_choice", name="length", choices=chosen.lengths, given=length)
    one_of("dtype", dtype, tuple(PRECISIONS))
    one_of("device", device, devices())
    tensors = tuple(tensor.to(device, PRECISIONS[dtype]) for tensor in drawn(chosen.batch, length))
    return timed(lambda: chosen.run(tensors), device)


def drawn(batch: int, length: int) -> Tensors:
    """The random q, k and v of a measurement, in float32 on the CPU.

    >>> [tuple(tensor.shape) for tensor in drawn(1, 5)]
    [(1, 1, 5, 64), (1, 1, 5, 64), (1, 1, 5, 64)]
    """
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(batch, 1, length, WIDTH, generator=generator) for _ in "qkv")
    return q, k, v


def timed(run: Callable[[], object], device: str, clock: Callable[[], float] = perf_counter) -> Timing:
    """The time of the fastest of a few runs, after one that does not count.

    >>> ticks = iter([0.0, 3.0])  # seconds: after so long a run there is no second one
    >>> timed(lambda: None, "cpu", lambda: next(ticks))
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


# ---- how the time grows ----------------------------------------------------------------------------------------------
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
