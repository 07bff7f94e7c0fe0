"""Computes attention in another precision, to show how rounding and overflow change its numbers, and small updates of
weights.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch

from attention_core.comparison.differences import subtract_traces
from attention_core.mechanism import checks
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.operations import ADD, SCALE
from attention_core.mechanism.plan import run_plan
from attention_core.mechanism.scores import DOT, GENERAL
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace

PRECISIONS = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
UPDATE_DIMS = ("update",)


def run_in_precision(trace: Trace, dtype: torch.dtype) -> Trace:
    """Run the same attention in another precision: round its inputs, and apply every operation again.

    trace: any run. dtype: one of PRECISIONS. Raises AttentionError (a ValueError) for an input that is too large for
    the precision. Later steps may overflow; `proof.find_overflow` returns the first such cell.

    >>> from attention_core import attend_qkv
    >>> third = torch.tensor([[1.0 / 3.0]], dtype=torch.float64)
    >>> run_in_precision(attend_qkv(third, third, third), torch.bfloat16)["q"].item()
    0.333984375
    """
    inputs = trace.inputs()
    rounded = {}
    for name, step in inputs.items():
        if step.dtype == torch.bool:
            continue
        value = step.value.to(dtype)
        inputs[name] = replace(step, value=value)
        rounded[name] = value
    checks.check_tensors(rounded)
    plan = [step.operation for step in trace.computed().values()]
    run = run_plan(inputs, plan)
    return replace(run, labels=trace.labels)


def precision_errors(trace: Trace, dtype: torch.dtype) -> Trace:
    """Compute a run in a precision and in float64; return a Trace of the differences, step by step: the rounding
    errors.

    trace: any run. dtype: one of PRECISIONS. Both runs have the same inputs, which the precision rounds once before it
    rounds every step. A cell that overflowed is infinite or NaN. Raises AttentionError (a ValueError) for an input that
    is too large for the precision. Reference numbers of such errors: tests/golden/s35.

    >>> from attention_core import attend_qkv
    >>> third = torch.tensor([[1.0 / 3.0]], dtype=torch.float64)
    >>> precision_errors(attend_qkv(third, third, third), torch.bfloat16)["q"].item() == 0.333984375 - 1.0 / 3.0
    True
    """
    rounded = run_in_precision(trace, dtype)
    exact = run_in_precision(trace, torch.float64)
    return subtract_traces(rounded, exact)


def with_queries_scaled_first(trace: Trace) -> Trace:
    r"""Compute a run again with scaled queries instead of scaled scores: $(c\,q)\,k^\top$ instead of $c\,(q\,k^\top)$.

    Both results are equal, but the products of scaled queries are smaller, and may be finite in a precision in which
    the products of q overflow. The returned run has one step more, `q_scaled`, and its `scaled_scores` multiplies by 1.

    trace: a run with a dot or a general score. Raises AttentionError (a ValueError) for another score: a cosine does
    not depend on the length of q, and a tanh layer is not proportional to it.

    >>> from attention_core.verification.proof import find_overflow
    >>> find_overflow(run_in_precision(overflow_example(), torch.float16))
    ('scores', (0, 0, 1, 0))
    >>> find_overflow(run_in_precision(with_queries_scaled_first(overflow_example()), torch.float16)) is None
    True
    """
    scores = trace.step("scores").operation
    scale = trace.step("scaled_scores").operation
    if scores.faces not in (DOT, GENERAL):
        raise AttentionError("scale_stays")
    _, *other_reads = scores.reads
    scale_queries = Operation(
        output="q_scaled",
        dims=trace.step("q").dims,
        reads=("q",),
        faces=scale.faces,
        params=scale.params,
    )
    score_scaled_queries = replace(scores, reads=("q_scaled", *other_reads))
    unscaled = {"factor": 1.0, "temperature": 1.0}
    keep_scores = replace(scale, faces=SCALE, params=unscaled)

    plan = []
    for name, step in trace.computed().items():
        if name == "scores":
            plan += [scale_queries, score_scaled_queries]
        elif name == "scaled_scores":
            plan.append(keep_scores)
        else:
            plan.append(step.operation)
    run = run_plan(trace.inputs(), plan)
    return replace(run, labels=trace.labels)


def overflow_example() -> Trace:
    """Return a run of three hand-made queries and keys whose numbers fit float16, but whose scores do not all fit.

    One score is 256 x 256 = 65,536, and the largest number of float16 is 65,504. The score beside it, 256 x 255 =
    65,280, fits.
    """
    q = [
        [1.0, 0.0, 1.0, 0.0],
        [256.0, 0.0, 0.0, 0.0],
        [0.0, 2.0, 0.0, -1.0],
    ]
    k = [
        [256.0, 0.0, 0.0, 0.0],
        [255.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 3.0, 1.0],
    ]
    v = [
        [1.0, 0.0],
        [0.0, 1.0],
        [0.5, 0.5],
    ]
    doubles = (torch.tensor(rows, dtype=torch.float64) for rows in (q, k, v))
    return attend_qkv(*doubles)


def largest_finite_number(dtype: str) -> float:
    """Return the largest finite number of a precision.

    dtype: one of PRECISIONS.

    >>> largest_finite_number("float16")
    65504.0
    """
    return torch.finfo(PRECISIONS[dtype]).max


# ---- updates of weights: one much smaller than the weight leaves it unchanged by rounding ----------------------------
def add_updates(weight: float, updates: Sequence[float], dtype: str) -> Trace:
    r"""Return a Trace that adds each update to a weight in a precision, with the steps `weight`, `update` and `moved`.

    $w' = \mathrm{round}(w + u)$

    dtype: one of PRECISIONS. An update of at most half the gap to the next number of the precision changes nothing
    (Micikevicius et al. 2018, Mixed Precision Training, section 3.1).

    >>> add_updates(1.0, (2.0**-10, 2.0**-12), "float16")["moved"].tolist()
    [1.0009765625, 1.0]
    """
    number = PRECISIONS[dtype]
    update = torch.tensor(updates, dtype=number)  # (n,)
    inputs = {
        "weight": Step("weight", torch.full_like(update, weight), UPDATE_DIMS),
        "update": Step("update", update, UPDATE_DIMS),
    }
    return run_plan(inputs, [Operation("moved", UPDATE_DIMS, ("weight", "update"), ADD)])


def repeat_update(weight: float, update: float, times: int, dtype: str, kept: str) -> float:
    """Add an update to a weight many times, rounding after each addition; return the final weight.

    dtype: the precision of the run. kept: the precision in which the weight is stored between two updates. Both are
    names in PRECISIONS.

    >>> [repeat_update(1.0, 2.0**-12, 1024, "float16", kept) for kept in ("float16", "float32")]
    [1.0, 1.25]
    """
    moved = torch.tensor(weight, dtype=PRECISIONS[kept])
    for _ in range(times):
        moved = moved + update
    return moved.to(PRECISIONS[dtype]).item()


def spacing_after_one(dtype: str) -> float:
    """Return the gap between 1 and the next larger number that a floating-point type represents.

    >>> spacing_after_one("float16") == 2.0**-10
    True
    """
    return torch.finfo(PRECISIONS[dtype]).eps


def smallest_number(dtype: str) -> float:
    """Return the smallest positive number of a floating-point type; half of this number, or less, is rounded to 0.

    >>> smallest_number("float16") == 2.0**-24
    True
    """
    return torch.finfo(PRECISIONS[dtype]).smallest_normal * spacing_after_one(dtype)
