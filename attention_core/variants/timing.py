"""Measures the run times of several kinds of attention on this machine, and the exponent with which they grow with
length.

A measurement is the fastest of a few runs after a warm-up run, because other programs can only make a run slower.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.errors import AttentionError
from attention_core.variants.sparse import (
    LocalPattern,
    Pattern,
    SparseSavings,
    StridedPattern,
    attend_sparse,
    count_computed_pairs,
    count_multiply_adds,
    make_local_qkv,
    measure_savings,
)
from attention_core.verification.precision import PRECISIONS

MAX_TIMED_RUNS = 5  # most runs per measurement
TIMING_BUDGET_SECONDS = 0.15  # no further run begins after this time in seconds
QKVTensors = tuple[Tensor, Tensor, Tensor]  # (q, k, v)
TIMED_WIDTH = 64
TIMED_BATCH = 8  # number of sequences, run together or one by one
TIMED_WINDOW = 32  # distance of the local pattern: up to 65 keys per query
TIMED_STRIDE = 16  # the strided pattern: every 16th key
TIMED_BLOCK = 128  # queries that the local pattern computes at once
TIMED_LOCAL_PATTERN = LocalPattern(TIMED_WINDOW, TIMED_BLOCK)
TIMED_STRIDED_PATTERN = StridedPattern(TIMED_STRIDE)


@dataclass(frozen=True)
class Timing:
    """The time of the fastest run in seconds of wall time, and the number of runs."""

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
    """Call `run`, and wait until the GPU, if one is used, has finished."""
    run()
    if device == "cuda":
        torch.cuda.synchronize()


def fit_slope(lengths: Sequence[float], seconds: Sequence[float]) -> float:
    r"""Fit the exponent with which time grows with length, by least squares on logarithmic axes.

    $\sum (x - \bar x)(y - \bar y) / \sum (x - \bar x)^2$ with x = log length, y = log seconds.

    lengths, seconds: equally many positive numbers, with at least two different lengths. Raises AttentionError (a
    ValueError). A result of 1 means growth in proportion to the length, 2 to its square.

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


# ---- what is measured: kinds of attention ----------------------------------------------------------------------------
def run_full(tensors: QKVTensors) -> Tensor:
    """Run attention with all (query, key) pairs, on all sequences of the batch at once."""
    return attend_qkv(*tensors)["head_outputs"]


def run_local(tensors: QKVTensors) -> Tensor:
    """Run attention under the local pattern: to the keys at most TIMED_WINDOW away from the query."""
    return attend_sparse(*tensors, TIMED_LOCAL_PATTERN).output


def run_strided(tensors: QKVTensors) -> Tensor:
    """Run attention under the strided pattern: to every TIMED_STRIDE-th key from the query's position."""
    return attend_sparse(*tensors, TIMED_STRIDED_PATTERN).output


def run_one_by_one(tensors: QKVTensors) -> Tensor:
    """Run attention with all pairs, separately on each sequence."""
    q, k, v = tensors
    outputs = []
    for sequence in zip(q.split(1), k.split(1), v.split(1), strict=True):
        outputs.append(run_full(sequence))
    return torch.cat(outputs)  # B times (1, H, T, d_v) -> (B, H, T, d_v)


@dataclass(frozen=True)
class TimedKind:
    """A kind of attention whose time is measured: the timed function, its batch size, and the lengths that visitors can
    choose.

    run: the function whose time is measured. batch: the number of sequences. lengths: the lengths that the visitor can
    choose; at the longest, a measurement takes less than half a second on two cores. pattern: the pattern of pairs;
    None for all pairs.
    """

    run: Callable[[QKVTensors], Tensor]
    batch: int
    lengths: tuple[int, ...]
    pattern: Pattern | None = None


LONG_TIMED_LENGTHS = (64, 128, 256, 512, 1024, 2048)
SHORT_TIMED_LENGTHS = (16, 32, 64, 128, 256, 512)
TIMED_KINDS = {
    "full": TimedKind(run_full, 1, LONG_TIMED_LENGTHS),
    "local": TimedKind(run_local, 1, LONG_TIMED_LENGTHS, TIMED_LOCAL_PATTERN),
    "strided": TimedKind(run_strided, 1, LONG_TIMED_LENGTHS, TIMED_STRIDED_PATTERN),
    "together": TimedKind(run_full, TIMED_BATCH, SHORT_TIMED_LENGTHS),
    "one_by_one": TimedKind(run_one_by_one, TIMED_BATCH, SHORT_TIMED_LENGTHS),
}


def count_timed_products(kind: str, length: int) -> int:
    """Count the multiply-adds of a measured run: 2 TIMED_WIDTH for every computed (query, key) pair.

    >>> count_timed_products("full", 64), count_timed_products("local", 64), count_timed_products("together", 64)
    (524288, 524288, 4194304)
    """
    require_one_of("kind", kind, tuple(TIMED_KINDS))
    timed = TIMED_KINDS[kind]
    pairs = length * length
    if timed.pattern is not None:
        pairs = count_computed_pairs(timed.pattern, length, length)
    all_pairs = timed.batch * pairs
    return count_multiply_adds(all_pairs, TIMED_WIDTH, TIMED_WIDTH)


@dataclass(frozen=True)
class TimedCase:
    """A measurement to make: a kind of attention in one precision on one device."""

    kind: str = "full"
    dtype: str = "float32"
    device: str = "cpu"

    @property
    def name(self) -> str:
        """The name of the case in a chart.

        The name is the device if it is not "cpu", else the precision if it is not "float32", else the kind of
        attention.

        >>> TimedCase("local").name, TimedCase(dtype="float16").name, TimedCase(device="cuda").name
        ('local', 'float16', 'cuda')
        """
        if self.device != "cpu":
            return self.device
        if self.dtype != "float32":
            return self.dtype
        return self.kind

    def seconds(self, length: int) -> float:
        """Run the case's kind of attention at a length in tokens, and return the seconds of the fastest run."""
        timing = measure_kind(self.kind, length, dtype=self.dtype, device=self.device)
        return timing.seconds

    def products(self, lengths: Sequence[int]) -> dict[int, int]:
        """Return {length: multiply-adds of the case's kind of attention} for lengths in tokens."""
        return {length: count_timed_products(self.kind, length) for length in lengths}


# ---- a measurement ---------------------------------------------------------------------------------------------------
def list_devices() -> tuple[str, ...]:
    """List the devices on which measurements can run: "cpu", and "cuda" if a CUDA GPU is available."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def measure_kind(kind: str, length: int, *, dtype: str = "float32", device: str = "cpu") -> Timing:
    """Run one kind of attention at one length, and return its timing.

    kind: one of TIMED_KINDS. length: one of the kind's lengths, in tokens. dtype: one of PRECISIONS. device: one of
    list_devices(). Raises AttentionError (a ValueError) for any other value.

    >>> timing = measure_kind("full", 64)
    >>> timing.seconds > 0
    True
    """
    require_one_of("kind", kind, tuple(TIMED_KINDS))
    timed = TIMED_KINDS[kind]
    if length not in timed.lengths:
        raise AttentionError(
            "unknown_choice",
            name="length",
            choices=timed.lengths,
            given=length,
        )
    require_one_of("dtype", dtype, tuple(PRECISIONS))
    require_one_of("device", device, list_devices())
    q, k, v = draw_qkv(timed.batch, length)
    precision = PRECISIONS[dtype]
    tensors = (
        q.to(device, precision),
        k.to(device, precision),
        v.to(device, precision),
    )
    return time_run(lambda: timed.run(tensors), device)


def draw_qkv(batch: int, length: int) -> QKVTensors:
    """Sample the random q, k and v of a measurement, in float32 on the CPU.

    >>> [tuple(tensor.shape) for tensor in draw_qkv(1, 5)]
    [(1, 1, 5, 64), (1, 1, 5, 64), (1, 1, 5, 64)]
    """
    generator = torch.Generator().manual_seed(0)
    shape = (batch, 1, length, TIMED_WIDTH)  # (B, H, T, d)
    q = torch.randn(shape, generator=generator)
    k = torch.randn(shape, generator=generator)
    v = torch.randn(shape, generator=generator)
    return q, k, v


# ---- what skipping saves and costs ---------------------------------------------------------------------------------
def savings_of_kind(kind: str, length: int, made: str) -> SparseSavings:
    """Measure how much work a sparse pattern saves and how large an error it causes, on inputs of this length.

    kind: "local" or "strided". made: "random" for random inputs, as in the time measurements, or "near" for inputs
    whose near pairs have the highest scores. Raises AttentionError (a ValueError) for any other value.

    >>> found = savings_of_kind("strided", 64, "random")
    >>> found.computed, found.pairs
    (256, 4096)
    """
    patterns = {}
    for name, timed in TIMED_KINDS.items():
        if timed.pattern:
            patterns[name] = timed.pattern
    require_one_of("made", made, ("near", "random"))
    require_one_of("kind", kind, tuple(patterns))
    if made == "near":
        q, k, v = make_local_qkv(length, TIMED_WIDTH)
    else:
        q, k, v = draw_qkv(1, length)
    return measure_savings(q, k, v, patterns[kind])
