"""A run in another precision: what rounding does to every number, and how the order of two steps decides an overflow.

The error of a precision is the difference to float64 of the same inputs: each input is rounded once, and every
operation is applied again to what the precision holds.
"""

from dataclasses import replace

import torch

from attention_core.comparison.differences import subtract_traces
from attention_core.mechanism import checks
from attention_core.mechanism.attention import attend_qkv, run_plan
from attention_core.mechanism.operations import SCALE
from attention_core.mechanism.scores import DOT, GENERAL
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Trace

PRECISIONS = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def run_in_precision(trace: Trace, dtype: torch.dtype) -> Trace:
    """The same run in another precision: its inputs rounded, every operation applied again.

    trace: any run. dtype: one of PRECISIONS. Raises AttentionError (a ValueError) for an input that is too large for
    the precision; what overflows later is in the run, and `proof.overflow` names its first cell.

    >>> from attention_core import attend_qkv
    >>> third = torch.tensor([[1.0 / 3.0]], dtype=torch.float64)
    >>> run_in_precision(attend_qkv(third, third, third), torch.bfloat16)["q"].item()
    0.333984375
    """
    inputs = {
        name: step if step.value.dtype == torch.bool else replace(step, value=step.value.to(dtype))
        for name, step in trace.inputs().items()
    }
    checks.check_tensors({name: step.value for name, step in inputs.items() if step.value.dtype != torch.bool})
    plan = [step.operation for step in trace.computed().values()]
    return replace(run_plan(inputs, plan), labels=trace.labels)


def precision_errors(trace: Trace, dtype: torch.dtype) -> Trace:
    """Every number of the run in a precision minus the same number in float64, as a Trace of differences.

    trace: any run. dtype: one of PRECISIONS. A cell that overflowed is infinite or NaN here. Raises AttentionError (a
    ValueError) as in_precision does. Golden numbers of such errors: s35.

    >>> from attention_core import attend_qkv
    >>> third = torch.tensor([[1.0 / 3.0]], dtype=torch.float64)
    >>> precision_errors(attend_qkv(third, third, third), torch.bfloat16)["q"].item() == 0.333984375 - 1.0 / 3.0
    True
    """
    return subtract_traces(run_in_precision(trace, dtype), run_in_precision(trace, torch.float64))


def with_queries_scaled_first(trace: Trace) -> Trace:
    r"""The same run with the queries scaled in the place of the scores: $(c\,q)\,k^\top$ for $c\,(q\,k^\top)$.

    Both are the same number; but the products of scaled queries are smaller, and stay within a precision that the
    products of q themselves leave. One step more, `q_scaled`, and `scaled_scores` multiplies by 1.

    trace: a run with a dot or a general score. Raises AttentionError (a ValueError) for another: a cosine does not
    depend on the length of q, and a tanh layer is not proportional to it.

    >>> from attention_core.verification.proof import find_overflow
    >>> find_overflow(run_in_precision(overflow_example(), torch.float16))
    ('scores', (0, 0, 1, 0))
    >>> find_overflow(run_in_precision(with_queries_scaled_first(overflow_example()), torch.float16)) is None
    True
    """
    scores, scaled = (trace.step(name).operation for name in ("scores", "scaled_scores"))
    if scores.faces not in (DOT, GENERAL):
        raise AttentionError("scale_stays")
    moved = Operation("q_scaled", trace.step("q").dims, ("q",), scaled.faces, scaled.params)
    changed = {
        "scores": (moved, replace(scores, reads=("q_scaled", *scores.reads[1:]))),
        "scaled_scores": (replace(scaled, faces=SCALE, params={"factor": 1.0, "temperature": 1.0}),),
    }
    plan = [operation for name, step in trace.computed().items() for operation in changed.get(name, (step.operation,))]
    return replace(run_plan(trace.inputs(), plan), labels=trace.labels)


def overflow_example() -> Trace:
    """Three queries and three keys made by hand, all held exactly by float16, in which one score is too large for it:
    256 x 256 = 65,536, and 65,504 is the largest number. Its neighbour, 256 x 255 = 65,280, is not."""
    q = torch.tensor([[1.0, 0, 1, 0], [256, 0, 0, 0], [0, 2, 0, -1]], dtype=torch.float64)
    k = torch.tensor([[256.0, 0, 0, 0], [255, 1, 0, 0], [0, 0, 3, 1]], dtype=torch.float64)
    v = torch.tensor([[1.0, 0], [0, 1], [0.5, 0.5]], dtype=torch.float64)
    return attend_qkv(q, k, v)


def largest_finite_number(dtype: str) -> float:
    """The largest number that a precision holds. dtype: one of PRECISIONS.

    >>> largest_finite_number("float16")
    65504.0
    """
    return torch.finfo(PRECISIONS[dtype]).max
