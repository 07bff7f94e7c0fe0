"""A run once more in float64: as it was, with one thing changed, from somebody's own steps, or shaken as if rounded.

How far two right computations may lie apart is measured, not guessed: every number of the run is moved by one unit in
the last place of a precision, up or down at random, and what comes of it at each step is what that precision can do
there (Parker 1997, Monte Carlo Arithmetic). So a softmax of large scores is forgiven more than one of small scores.
"""

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference, largest_magnitude
from attention_core.record.trace import Step, Trace

Values = dict[str, Tensor]
Change = Callable[[Step, Values], Tensor | None]  # another value for a step, from those before it; None: as it was

SHAKEN_RUN_COUNT = 8  # shaken runs: the largest of eight is seldom small by luck
ROUNDING_MARGIN = 4  # times what a shaken run shows: running sums over 128 numbers, other exponentials reach 1.8 times


def unchanged_value(step: Step, values: Mapping[str, Tensor]) -> Tensor:
    """A step's value in float64 on the CPU, from those before it; what is boolean stays so."""
    if step.operation is not None:
        return step.operation.apply(values)
    value = step.value.detach().cpu()
    return value if value.dtype == torch.bool else value.double()


def rerun(
    trace: Trace,
    change: Change | None = None,
    theirs: Mapping[str, Tensor] | None = None,
    eps: float = 0.0,
    seed: int = 0,
) -> Values:
    """Every step again in float64 on the CPU, from the inputs on.

    change: another value for some steps. theirs: values that stand in the place of the run's own, float64. eps: each
    number is multiplied by 1 + eps or 1 - eps, drawn from the seed.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> rerun(trace, theirs={"scores": torch.zeros(1, 1, 2, 2).double()})["weights"][0, 0, 0]
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    values: Values = {}
    generator = torch.Generator().manual_seed(seed)
    for name, step in trace.steps.items():
        value = (theirs or {}).get(name)
        if value is None:
            value = change(step, values) if change else None
        if value is None:
            value = unchanged_value(step, values)
        if eps and value.is_floating_point() and name != "masked_scores":  # a mask rounds nothing
            signs = 2 * torch.randint(2, value.shape, generator=generator).double() - 1
            value = value * (1 + eps * signs)
        values[name] = value
    return values


def rounding_allowances(
    trace: Trace, tolerance: float | torch.dtype, change: Change | None = None, theirs: Values | None = None
) -> dict[str, float]:
    """How far each step may lie from `rerun` in a right computation, as an absolute difference.

    tolerance: a dtype, whose rounding is forgiven: MARGIN times the largest difference that DRAWS shaken runs show; or
    a number, relative to the step's largest finite magnitude in the trace.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> double, single = (rounding_allowances(trace, dtype) for dtype in (torch.float64, torch.float32))
    >>> double["weights"] < 1e-14 < single["weights"] < 1e-5
    True
    """
    if not isinstance(tolerance, torch.dtype):
        return {name: tolerance * largest_magnitude(value) for name, value in rerun(trace).items()}
    exact = rerun(trace, change, theirs)
    spread = dict.fromkeys(exact, 0.0)
    for seed in range(SHAKEN_RUN_COUNT):
        for name, value in rerun(trace, change, theirs, torch.finfo(tolerance).eps, seed).items():
            gap = abs_difference(value, exact[name])
            spread[name] = max(spread[name], gap.masked_fill(gap.isinf(), 0.0).max().item())
    return {name: ROUNDING_MARGIN * width for name, width in spread.items()}


def coarsest_dtype(tensors: Iterable[Tensor]) -> torch.dtype:
    """The floating dtype that rounds most among the tensors' own; float64 where there is none.

    >>> coarsest_dtype([torch.zeros(1), torch.zeros(1, dtype=torch.bfloat16), torch.ones(1, dtype=torch.bool)])
    torch.bfloat16
    """
    dtypes = [tensor.dtype for tensor in tensors if tensor.is_floating_point()]
    return max(dtypes, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float64)


def can_hold(dtype: torch.dtype, numbers: Tensor) -> bool:
    """Whether a precision holds every number exactly, infinities and NaN among them.

    >>> can_hold(torch.bfloat16, torch.tensor([0.5, torch.nan])), can_hold(torch.bfloat16, torch.tensor([0.1]))
    (True, False)
    """
    return abs_difference(numbers.to(dtype), numbers).max().item() == 0
