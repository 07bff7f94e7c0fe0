"""The proof of a stack: that of each of its parts, and that each begins with what the part before it gave."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attention_core.comparison.rerun import rerun
from attention_core.record.trace import Trace
from attention_core.transformer.stack import Stack
from attention_core.verification.proof import Proof, prove, run_numpy_twins

RECOMPUTED = ("numpy", "shown")  # witnesses that compare cell by cell


@dataclass(frozen=True)
class WrongCell:
    """A number that is not what it should be."""

    index: tuple[int, ...]
    shown: float
    expected: float


@dataclass(frozen=True)
class StackFault:
    """The first thing that is wrong in a stack: the part, its step, and the cell that is farthest off.

    cell: None where no single cell is wrong, as where a row does not sum to 1. source: the part that gives other
    numbers than this part begins with; None where the part itself is wrong.
    """

    part: str
    step: str
    cell: WrongCell | None = None
    source: str | None = None


@dataclass(frozen=True)
class StackProof:
    """The proofs of a stack's parts by their names, and the links that do not hold: (part, its input).

    numbers: how many each part has computed. fault: the first thing that is wrong; None where all is proven.
    """

    parts: Mapping[str, Proof]
    broken_links: tuple[tuple[str, str], ...]
    numbers: Mapping[str, int]
    fault: StackFault | None = None

    @property
    def passed(self) -> bool:
        """Whether all parts are proven and all links hold."""
        return not self.broken_links and all(proof.passed for proof in self.parts.values())

    @property
    def worst(self) -> float:
        """The largest relative difference of any check of any part."""
        return max(proof.worst for proof in self.parts.values())

    @property
    def number_count(self) -> int:
        """How many numbers were checked."""
        return sum(self.numbers.values())

    @property
    def failed(self) -> str | None:
        """The first part whose proof fails."""
        return next((name for name, proof in self.parts.items() if not proof.passed), None)


def prove_stack(stack: Stack) -> StackProof:
    """Check every number of every part, and that each part begins with the numbers that it is said to begin with.

    >>> import torch
    >>> from attention_core import AttentionConfig, Weights
    >>> from attention_core.transformer.stack import LayerConfig, LayerWeights, StackConfig, StackWeights, run_stack
    >>> config = StackConfig([LayerConfig(AttentionConfig(residual=True))] * 2)
    >>> prove_stack(run_stack(torch.eye(3), StackWeights([LayerWeights(Weights())] * 2), config)).passed
    True
    """
    broken = []
    for part, sources in stack.sources.items():
        for read, (source, step) in sources.items():
            if not torch.equal(stack[part][read], stack[source][step]):
                broken.append((part, read))
    proofs = {name: prove(trace) for name, trace in stack.parts.items()}
    numbers = {name: count_computed(trace) for name, trace in stack.parts.items()}
    return StackProof(proofs, tuple(broken), numbers, find_fault(stack, proofs, dict(broken)))


def count_computed(trace: Trace) -> int:
    """How many numbers a part has computed: those that it was given are not among them."""
    return sum(step.value.numel() for step in trace.computed().values())


def put_beside(runs: Mapping[str, Stack]) -> Stack:
    """Several runs as one Stack: the name of a run and a stroke stand before the names of its parts.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> run = Stack({}, {}).then("attention", attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), {})
    >>> list(put_beside({"before": run, "after": run}).parts)
    ['before/attention', 'after/attention']
    """
    parts, sources = {}, {}
    for run, stack in runs.items():
        parts |= {f"{run}/{part}": trace for part, trace in stack.parts.items()}
        for part, reads in stack.sources.items():
            sources[f"{run}/{part}"] = {read: (f"{run}/{source}", step) for read, (source, step) in reads.items()}
    return Stack(parts, sources)


# ---- what is wrong, and where ----------------------------------------------------------------------------------------
def find_fault(stack: Stack, proofs: Mapping[str, Proof], broken: Mapping[str, str]) -> StackFault | None:
    """The first thing that is wrong, in the order of the parts. broken: an input of each part whose link is broken."""
    for part, proof in proofs.items():
        if part in broken:
            read = broken[part]
            source, step = stack.sources[part][read]
            return StackFault(part, read, farthest_cell(stack[part][read], stack[source][step]), source)
        if not proof.passed:
            failed = proof.failed
            cell = find_wrong_cell(stack[part], failed.step) if failed.witness in RECOMPUTED else None
            return StackFault(part, failed.step, cell)
    return None


def find_wrong_cell(trace: Trace, step: str) -> WrongCell | None:
    """The cell of a step that is farthest from what its part gives when it is computed again."""
    trace = trace.on_cpu()
    twins = run_numpy_twins(trace, rerun(trace))
    return farthest_cell(trace[step], torch.as_tensor(twins[step]))


def farthest_cell(value: Tensor, other: Tensor) -> WrongCell | None:
    """Where two tensors are farthest apart; None where their shapes differ. Equal infinities are not apart."""
    if value.shape != other.shape:
        return None
    value, other = value.detach().cpu().double(), other.detach().cpu().double()
    gaps = (value - other).abs().nan_to_num(nan=torch.inf)
    gaps[value == other] = 0.0
    place = np.unravel_index(int(gaps.argmax()), gaps.shape)
    index = tuple(map(int, place))
    return WrongCell(index, float(value[index]), float(other[index]))
