"""Single steps computed by torch's own functions of the same name: projections, norms, activations, a softmax."""

from collections.abc import Callable, Iterator

import torch.nn.functional as F
from torch import Tensor

from attention_core.mechanism.norms import CENTRE, LAYER_NORM, RMS_NORM
from attention_core.mechanism.operations import PROJECT
from attention_core.record.trace import Operation, Trace
from attention_core.transformer.activations import GELU, RELU, SILU
from attention_core.transformer.unembedding import MEET_ROWS, SHARE_WORDS


def linear_by_torch(x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    """x @ w + b."""
    return F.linear(x, w.T, b)


def rms_norm_by_torch(x: Tensor, gain: Tensor, *, eps: float) -> Tensor:
    """The RMS norm of the last axis."""
    return F.rms_norm(x, gain.shape, gain, eps)


def layer_norm_by_torch(x: Tensor, gain: Tensor, shift: Tensor, *, eps: float) -> Tensor:
    """The LayerNorm of the last axis, whose mean is not subtracted yet."""
    return F.layer_norm(x, gain.shape, gain, shift, eps)


def logits_by_torch(x: Tensor, table: Tensor, bias: Tensor | None = None) -> Tensor:
    """A logit for each row of the table."""
    return F.linear(x, table, bias)


def softmax_by_torch(logits: Tensor) -> Tensor:
    """The softmax of the last axis."""
    return F.softmax(logits, dim=-1)


# Keyed by the formula's function, which identifies the operation.
WITNESSES: dict[Callable, Callable[..., Tensor]] = {
    PROJECT.formula: linear_by_torch,
    RMS_NORM.formula: rms_norm_by_torch,
    LAYER_NORM.formula: layer_norm_by_torch,
    RELU.formula: F.relu,
    GELU.formula: F.gelu,
    SILU.formula: F.silu,
    MEET_ROWS.formula: logits_by_torch,
    SHARE_WORDS.formula: softmax_by_torch,
}


def run_torch_functions(trace: Trace, doubles: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Yields name and value of each step in WITNESSES, computed by torch from the float64 values that it reads."""
    for name, step in trace.computed().items():
        operation = step.operation
        witness = WITNESSES.get(operation.faces.formula)
        if witness is not None:
            operands = [doubles[read] for read in witness_reads(trace, operation)]
            yield name, witness(*operands, **operation.params)


def witness_reads(trace: Trace, operation: Operation) -> tuple[str, ...]:
    """The steps that torch's function reads: those that the operation reads; of a LayerNorm, before centring."""
    if operation.faces.formula is not LAYER_NORM.formula:
        return operation.reads
    centred, *learned = operation.reads
    made = trace.step(centred).operation
    if made is None or made.faces.formula is not CENTRE.formula:
        return operation.reads
    return (*made.reads, *learned)
