"""What attention costs on this machine, measured: one call is one measurement of less than half a second, so that a
page shows each as it comes and can stop between two.

The inputs are random, from a fixed seed. What is measured is what the explorer runs: attend_qkv with every step kept,
or attend_sparse; one head, width 64.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import one_of
from attention_core.record.errors import AttentionError
from attention_core.variants.sparse import (
    Local,
    Pattern,
    Saved,
    Strided,
    attend_sparse,
    computed_pairs,
    multiply_adds,
    near_pairs,
    saved,
)
from attention_core.variants.stopwatch import Timing, timed
from attention_core.verification.precision import PRECISIONS

WIDTH = 64
BATCH = 8  # sequences, together or one by one
WINDOW, STRIDE, BLOCK = 32, 16, 128  # of the patterns: each query has 65 keys, or a 16th of all
LOCAL, STRIDED = Local(WINDOW, BLOCK), Strided(STRIDE)

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


@dataclass(frozen=True)
class Case:
    """One kind in one precision on one device: what takes part in a race."""

    kind: str = "full"
    dtype: str = "float32"
    device: str = "cpu"

    @property
    def name(self) -> str:
        """What is special about it: its device, else its precision, else its kind.

        >>> Case("local").name, Case(dtype="float16").name, Case(device="cuda").name
        ('local', 'float16', 'cuda')
        """
        return self.device if self.device != "cpu" else self.dtype if self.dtype != "float32" else self.kind

    def seconds(self, length: int) -> float:
        """Measured now, as `measure`."""
        return measure(self.kind, length, dtype=self.dtype, device=self.device).seconds

    def products(self, lengths: Sequence[int]) -> dict[int, int]:
        """Its multiply-adds at each length, as `products`."""
        return {length: products(self.kind, length) for length in lengths}


# ---- a measurement ---------------------------------------------------------------------------------------------------
def devices() -> tuple[str, ...]:
    """Where measurements can run: the CPU, and a CUDA GPU where there is one."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def measure(kind: str, length: int, *, dtype: str = "float32", device: str = "cpu") -> Timing:
    """Measures one kind at one length, now.

    kind: one of KINDS. length: one of its lengths, in tokens. dtype: one of PRECISIONS. device: one of devices().
    Raises AttentionError (a ValueError) for another choice.

    >>> timing = measure("full", 64)
    >>> timing.seconds > 0
    True
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


# ---- what skipping saves and costs ---------------------------------------------------------------------------------
def saved_by(kind: str, length: int, made: str) -> Saved:
    """What the pattern of a kind saves and costs on inputs of this length.

    kind: "local" or "strided". made: "random", as what is measured, or "near" pairs, see near_pairs. Raises
    AttentionError (a ValueError) for another choice.

    >>> found = saved_by("strided", 64, "random")
    >>> found.computed, found.pairs
    (256, 4096)
    """
    patterns = {name: each.pattern for name, each in KINDS.items() if each.pattern}
    one_of("made", made, ("near", "random"))
    inputs = near_pairs(length, WIDTH) if made == "near" else drawn(1, length)
    return saved(*inputs, patterns[one_of("kind", kind, tuple(patterns))])
