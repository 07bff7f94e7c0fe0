"""Computes a run again in float64: unchanged, with changed steps, from given steps, or with simulated rounding errors.

Two correct computations may differ by rounding. To measure how much, "shaken" runs change every number by one unit in
the last place of a precision, up or down at random. The spread of each step shows how much rounding can change it
(Parker 1997, Monte Carlo Arithmetic); the softmax of large scores may differ more than that of small scores.
"""

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference, largest_magnitude
from attention_core.record.trace import Step, Trace

Values = dict[str, Tensor]
Change = Callable[[Step, Values], Tensor | None]  # (step, earlier values) -> the step's new value or None

SHAKEN_RUN_COUNT = 8  # number of runs with simulated rounding errors, enough to measure their spread
ROUNDING_MARGIN = 4  # rounding tolerance as a multiple of the measured spread; other code reaches 1.8 times


def unchanged_value(step: Step, values: Mapping[str, Tensor]) -> Tensor:
    """Compute a step in float64 on the CPU from the values of earlier steps; a boolean input is returned as it is."""
    if step.operation is not None:
        return step.operation.apply(values)
    value = step.value.detach().cpu()
    if value.dtype == torch.bool:
        return value
    return value.double()


def rerun(
    trace: Trace,
    change: Change | None = None,
    theirs: Mapping[str, Tensor] | None = None,
    eps: float = 0.0,
    seed: int = 0,
) -> Values:
    """Compute every step of a run again from its inputs, in float64 on the CPU.

    change: a function that returns another value for a step, or None to keep it. theirs: {step name: float64 values
    that replace those of the run}. eps: if above 0, each number is multiplied by 1 + eps or 1 - eps at random. seed:
    the seed of the random choice.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> rerun(trace, theirs={"scores": torch.zeros(1, 1, 2, 2).double()})["weights"][0, 0, 0]
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    given = theirs or {}
    generator = torch.Generator().manual_seed(seed)
    values: Values = {}
    for name, step in trace.steps.items():
        value = given.get(name)
        if value is None and change is not None:
            value = change(step, values)
        if value is None:
            value = unchanged_value(step, values)
        if eps and name != "masked_scores":  # masking only replaces numbers, so it does not round
            value = shake(value, eps, generator)
        values[name] = value
    return values


def shake(value: Tensor, eps: float, generator: torch.Generator) -> Tensor:
    """Simulate rounding: multiply each number by 1 + eps or 1 - eps at random; a boolean tensor is returned
    unchanged."""
    if not value.is_floating_point():
        return value
    bits = torch.randint(2, value.shape, generator=generator)
    signs = 2 * bits.double() - 1
    return value * (1 + eps * signs)


def rounding_allowances(
    trace: Trace,
    tolerance: float | torch.dtype,
    change: Change | None = None,
    theirs: Values | None = None,
) -> dict[str, float]:
    """Compute, for each step, the largest absolute difference from `rerun` that rounding explains.

    tolerance: a dtype or a number. If it is a dtype, the result is ROUNDING_MARGIN times the largest difference among
    SHAKEN_RUN_COUNT shaken runs in this precision. If it is a number, the result is this number times the step's
    largest finite magnitude.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> double, single = (rounding_allowances(trace, dtype) for dtype in (torch.float64, torch.float32))
    >>> double["weights"] < 1e-14 < single["weights"] < 1e-5
    True
    """
    if isinstance(tolerance, torch.dtype):
        spread = measure_rounding(trace, tolerance, change, theirs)
        return {name: ROUNDING_MARGIN * width for name, width in spread.items()}
    allowances = {}
    for name, value in rerun(trace).items():
        allowances[name] = tolerance * largest_magnitude(value)
    return allowances


def measure_rounding(
    trace: Trace, dtype: torch.dtype, change: Change | None, theirs: Values | None
) -> dict[str, float]:
    """Measure for each step the largest difference between runs with simulated rounding and the exact run."""
    eps = torch.finfo(dtype).eps
    exact = rerun(trace, change, theirs)
    spread = dict.fromkeys(exact, 0.0)
    for seed in range(SHAKEN_RUN_COUNT):
        shaken = rerun(trace, change, theirs, eps, seed)
        for name, value in shaken.items():
            gap = largest_finite_gap(value, exact[name])
            spread[name] = max(spread[name], gap)
    return spread


def largest_finite_gap(one: Tensor, other: Tensor) -> float:
    """Measure the largest finite difference between two tensors, cell by cell."""
    gaps = abs_difference(one, other)
    finite = gaps.masked_fill(gaps.isinf(), 0.0)
    return finite.max().item()


def coarsest_dtype(tensors: Iterable[Tensor]) -> torch.dtype:
    """Return the coarsest floating-point dtype among those of the tensors; float64 if none is floating-point.

    >>> coarsest_dtype([torch.zeros(1), torch.zeros(1, dtype=torch.bfloat16), torch.ones(1, dtype=torch.bool)])
    torch.bfloat16
    """
    dtypes = [tensor.dtype for tensor in tensors if tensor.is_floating_point()]
    return max(dtypes, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float64)


def can_hold(dtype: torch.dtype, numbers: Tensor) -> bool:
    """Return whether a dtype represents every given number exactly, including infinities and NaN.

    >>> can_hold(torch.bfloat16, torch.tensor([0.5, torch.nan])), can_hold(torch.bfloat16, torch.tensor([0.1]))
    (True, False)
    """
    rounded = numbers.to(dtype)
    return abs_difference(rounded, numbers).max().item() == 0
