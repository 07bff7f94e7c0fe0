"""The proof of a stack: the proof of each part, and that each part's inputs are the outputs of earlier parts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attention_core.comparison.rerun import rerun
from attention_core.record.trace import Trace
from attention_core.transformer.stack import Stack
from attention_core.verification.proof import Proof, prove, run_numpy_twins

RECOMPUTED = ("numpy", "shown")  # names of the witnesses that compare cell by cell


@dataclass(frozen=True)
class WrongCell:
    """A cell whose number differs from the expected one."""

    index: tuple[int, ...]
    shown: float
    expected: float


@dataclass(frozen=True)
class StackFault:
    """The first fault in a stack: the part, its step, and the cell with the largest difference.

    cell: None if no single cell is wrong, as for a row that does not sum to 1. source: the part whose output differs
    from this part's input; None if the part itself is wrong.
    """

    part: str
    step: str
    cell: WrongCell | None = None
    source: str | None = None


@dataclass(frozen=True)
class StackProof:
    """The proofs of a stack's parts by name, and the broken links: (part, input that differs from its source).

    numbers: the count of computed numbers of each part. fault: the first fault; None if all is proven.
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
    """Proves every part, and checks that the inputs of each part equal the outputs that they come from.

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
    """The count of numbers that a part computed, without its inputs."""
    return sum(step.value.numel() for step in trace.computed().values())


def put_beside(runs: Mapping[str, Stack]) -> Stack:
    """Several runs as one Stack; the names of parts are prefixed with the run's name and a slash.

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


# ---- the first fault -------------------------------------------------------------------------------------------------
def find_fault(stack: Stack, proofs: Mapping[str, Proof], broken: Mapping[str, str]) -> StackFault | None:
    """The first fault in the order of the parts; None if there is none. broken: inputs with a broken link, by part."""
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
    """The cell of a step that differs most when its part is computed again by NumPy."""
    trace = trace.on_cpu()
    twins = run_numpy_twins(trace, rerun(trace))
    return farthest_cell(trace[step], torch.as_tensor(twins[step]))


def farthest_cell(value: Tensor, other: Tensor) -> WrongCell | None:
    """The cell in which two tensors differ most; None if their shapes differ. Equal infinities do not differ."""
    if value.shape != other.shape:
        return None
    value, other = value.detach().cpu().double(), other.detach().cpu().double()
    gaps = (value - other).abs().nan_to_num(nan=torch.inf)
    gaps[value == other] = 0.0
    place = np.unravel_index(int(gaps.argmax()), gaps.shape)
    index = tuple(map(int, place))
    return WrongCell(index, float(value[index]), float(other[index]))
