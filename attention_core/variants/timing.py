"""How long a run takes on this machine, and with which power that grows.

A measurement is the fastest of a few runs after one that does not count, because whatever else the machine does can
only make a run slower."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import require_one_of, require_positive
from attention_core.record.errors import AttentionError
from attention_core.variants.encoders import (
    RECURRENT_CELLS,
    Encoder,
    EncoderLayer,
    draw_layers,
    encode,
    layer_directions,
    random_words,
)
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

MAX_TIMED_RUNS, TIMING_BUDGET_SECONDS = (
    5,
    0.15,
)  # at most so many runs a measurement, and none begins after so many seconds


@dataclass(frozen=True)
class Timing:
    """Wall time of the fastest run, in seconds, and of how many."""

    seconds: float
    runs: int


def time_run(run: Callable[[], object], device: str = "cpu", clock: Callable[[], float] = perf_counter) -> Timing:
    """The time of the fastest of a few runs, after one that does not count.

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
    """Runs, and waits until the device has done what it was told."""
    run()
    if device == "cuda":
        torch.cuda.synchronize()


def fit_slope(lengths: Sequence[float], seconds: Sequence[float]) -> float:
    r"""The power with which the time grows, by least squares in log-log:
    $\sum (x - \bar x)(y - \bar y) / \sum (x - \bar x)^2$ with x = log length, y = log seconds.

    lengths, seconds: as many of both, all above 0, at least two different lengths. 1 means in proportion to the length,
    2 to its square. Raises AttentionError (a ValueError) for others.

    >>> round(fit_slope([10, 20, 40], [3, 12, 48]), 12)
    2.0
    """
    if len(lengths) != len(seconds) or len(set(lengths)) < 2 or min(*lengths, *seconds) <= 0:
        raise AttentionError("slope_points", lengths=list(lengths), seconds=list(seconds))
    x, y = ([math.log(number) for number in numbers] for numbers in (lengths, seconds))
    return statistics.linear_regression(x, y).slope


TIMED_WIDTH = 64


TIMED_BATCH = 8  # sequences, together or one by one


TIMED_WINDOW, TIMED_STRIDE, TIMED_BLOCK = 32, 16, 128  # of the patterns: each query has 65 keys, or a 16th of all


TIMED_LOCAL_PATTERN, TIMED_STRIDED_PATTERN = LocalPattern(TIMED_WINDOW, TIMED_BLOCK), StridedPattern(TIMED_STRIDE)


QKVTensors = tuple[Tensor, Tensor, Tensor]  # q, k and v


# ---- what is measured ------------------------------------------------------------------------------------------------
def run_full(tensors: QKVTensors) -> Tensor:
    """All pairs, of all sequences at once."""
    return attend_qkv(*tensors)["head_outputs"]


def run_local(tensors: QKVTensors) -> Tensor:
    """Keys at most WINDOW away, the others never computed."""
    return attend_sparse(*tensors, TIMED_LOCAL_PATTERN).output


def run_strided(tensors: QKVTensors) -> Tensor:
    """Every STRIDE-th key, the others never computed."""
    return attend_sparse(*tensors, TIMED_STRIDED_PATTERN).output


def run_one_by_one(tensors: QKVTensors) -> Tensor:
    """All pairs, each sequence in a run of its own."""
    return torch.cat([run_full(sequence) for sequence in zip(*(tensor.split(1) for tensor in tensors), strict=True)])


@dataclass(frozen=True)
class TimedKind:
    """Something to measure: how it runs, on how many sequences, the lengths that are offered, and which pairs it
    computes, where not all. The longest takes less than half a second on two cores, all runs of its measurement
    together."""

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
    """The multiply-adds of what is measured: two of WIDTH each for every pair that is computed.

    >>> count_timed_products("full", 64), count_timed_products("local", 64), count_timed_products("together", 64)
    (524288, 524288, 4194304)
    """
    chosen = TIMED_KINDS[require_one_of("kind", kind, tuple(TIMED_KINDS))]
    pairs = length * length if chosen.pattern is None else count_computed_pairs(chosen.pattern, length, length)
    return count_multiply_adds(chosen.batch * pairs, TIMED_WIDTH, TIMED_WIDTH)


@dataclass(frozen=True)
class TimedCase:
    """One kind in one precision on one device: what takes part in a race."""

    kind: str = "full"
    dtype: str = "float32"
    device: str = "cpu"

    @property
    def name(self) -> str:
        """What is special about it: its device, else its precision, else its kind.

        >>> TimedCase("local").name, TimedCase(dtype="float16").name, TimedCase(device="cuda").name
        ('local', 'float16', 'cuda')
        """
        return self.device if self.device != "cpu" else self.dtype if self.dtype != "float32" else self.kind

    def seconds(self, length: int) -> float:
        """Measured now, as `measure`."""
        return measure_kind(self.kind, length, dtype=self.dtype, device=self.device).seconds

    def products(self, lengths: Sequence[int]) -> dict[int, int]:
        """Its multiply-adds at each length, as `products`."""
        return {length: count_timed_products(self.kind, length) for length in lengths}


# ---- a measurement ---------------------------------------------------------------------------------------------------
def list_devices() -> tuple[str, ...]:
    """Where measurements can run: the CPU, and a CUDA GPU where there is one."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def measure_kind(kind: str, length: int, *, dtype: str = "float32", device: str = "cpu") -> Timing:
    """Measures one kind at one length, now.

    kind: one of KINDS. length: one of its lengths, in tokens. dtype: one of PRECISIONS. device: one of devices().
    Raises AttentionError (a ValueError) for another choice.

    >>> timing = measure_kind("full", 64)
    >>> timing.seconds > 0
    True
    """
    chosen = TIMED_KINDS[require_one_of("kind", kind, tuple(TIMED_KINDS))]
    if length not in chosen.lengths:
        raise AttentionError("unknown_choice", name="length", choices=chosen.lengths, given=length)
    require_one_of("dtype", dtype, tuple(PRECISIONS))
    require_one_of("device", device, list_devices())
    tensors = tuple(tensor.to(device, PRECISIONS[dtype]) for tensor in draw_qkv(chosen.batch, length))
    return time_run(lambda: chosen.run(tensors), device)


def draw_qkv(batch: int, length: int) -> QKVTensors:
    """The random q, k and v of a measurement, in float32 on the CPU.

    >>> [tuple(tensor.shape) for tensor in draw_qkv(1, 5)]
    [(1, 1, 5, 64), (1, 1, 5, 64), (1, 1, 5, 64)]
    """
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(batch, 1, length, TIMED_WIDTH, generator=generator) for _ in "qkv")
    return q, k, v


# ---- what skipping saves and costs ---------------------------------------------------------------------------------
def savings_of_kind(kind: str, length: int, made: str) -> SparseSavings:
    """What the pattern of a kind saves and costs on inputs of this length.

    kind: "local" or "strided". made: "random", as what is measured, or "near" pairs, see near_pairs. Raises
    AttentionError (a ValueError) for another choice.

    >>> found = savings_of_kind("strided", 64, "random")
    >>> found.computed, found.pairs
    (256, 4096)
    """
    patterns = {name: each.pattern for name, each in TIMED_KINDS.items() if each.pattern}
    require_one_of("made", made, ("near", "random"))
    inputs = make_local_qkv(length, TIMED_WIDTH) if made == "near" else draw_qkv(1, length)
    return measure_savings(*inputs, patterns[require_one_of("kind", kind, tuple(patterns))])


MAX_TIMED_LENGTH = 1024  # positions; attention then keeps a million scores


TORCH_LOOPS = {"rnn": torch.rnn_tanh, "gru": torch.gru, "lstm": torch.lstm}


def encoding_time(encoder: Encoder, length: int) -> Timing:
    """The time of one forward pass over random words, in float64.

    Recurrences run as torch's own loops, which are faster than a loop in Python; cnn and attention as `encode`. The
    words are as wide as the encoder. length: at most 1,024. Raises AttentionError: positive_integer, at_most.

    >>> encoding_time(Encoder("cnn"), length=16).seconds > 0
    True
    """
    if require_positive("length", length) > MAX_TIMED_LENGTH:
        raise AttentionError("at_most", name="length", limit=MAX_TIMED_LENGTH, given=length)
    x = random_words(encoder, length, encoder.width)[None]  # (1, T, D)
    return time_run(forward_pass(encoder, x, draw_layers(encoder, encoder.width)))


def forward_pass(
    encoder: Encoder, x: Float[Tensor, "B T D"], layers: tuple[EncoderLayer, ...]
) -> Callable[[], Float[Tensor, "B T width"]]:
    """What is to be timed, with all that is no part of it done before."""
    if encoder.kind not in RECURRENT_CELLS:
        return lambda: encode(encoder, x, layers)
    given = [tensor for layer in layers for each in layer for tensor in (each.w_x.T, each.w_h.T, each.b, 0 * each.b)]
    given = [tensor.contiguous() for tensor in given]  # torch's layout: (G H, d_in), and a second bias
    state = x.new_zeros(encoder.layers * len(layer_directions(encoder)), len(x), encoder.width)
    start = (state, state) if encoder.kind == "lstm" else state
    biases, dropout, training, batch_first = True, 0.0, False, True
    choices = (biases, encoder.layers, dropout, training, len(layer_directions(encoder)) == 2, batch_first)
    return lambda: TORCH_LOOPS[encoder.kind](x, start, given, *choices)[0]
