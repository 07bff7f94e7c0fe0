"""Numbers rounded to a few decimals, and the effect on numbers that are computed from them."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.exercises.number_range import NumberRange, range_through
from attention_core.mechanism.operations import MIX
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.trace import Faces, Operation, Trace


# ---- numbers with so many decimals, a half away from 0 ---------------------------------------------------------------
def write_down(numbers: Float[Tensor, "..."], *, digits: int) -> Float[Tensor, "..."]:
    unit = 10.0**digits
    units = (numbers.abs() * unit + 0.5).floor()
    return torch.copysign(units / unit, numbers)


def write_down_numpy(numbers, *, digits):
    unit = 10.0**digits
    units = np.floor(np.abs(numbers) * unit + 0.5)
    return np.sign(numbers) * units / unit


def write_down_formula(numbers, *, digits):
    return rf"\mathrm{{round}}({numbers}, {digits})"


def write_down_cell(index, numbers: Operand, *, digits) -> Cell:
    number = (numbers[index],)
    decimals = (Constant(float(digits), str(digits)),)
    return Cell((number, decimals), function="round")


ROUND = Faces(write_down, write_down_numpy, write_down_formula, write_down_cell)


def with_rounded_weights(trace: Trace, digits: int) -> Trace:
    """Add two steps to a run: `rounded_weights`, and `rounded_outputs`, the head outputs computed from these.

    digits: the decimals of the rounded weights.

    >>> from attention_core import attend_qkv
    >>> thirds = attend_qkv(torch.zeros(1, 2), torch.zeros(3, 2), torch.eye(3))
    >>> with_rounded_weights(thirds, 2)["rounded_outputs"].flatten()
    tensor([0.3300, 0.3300, 0.3300])
    """
    dims = trace.step("head_outputs").dims
    return trace.then(
        Operation("rounded_weights", SCORE_DIMS, ("weights",), ROUND, {"digits": digits}),
        Operation("rounded_outputs", dims, ("rounded_weights", "v"), MIX),
    )


# ---- the largest effect of rounding ----------------------------------------------------------------------------------
def half_a_unit(digits: int | None) -> float:
    """Return the largest rounding error for so many decimals: half a unit of the last; 0 for None (exact numbers).

    >>> half_a_unit(2), half_a_unit(None)
    (0.005, 0.0)
    """
    if digits is None:
        return 0.0
    return 0.5 * 10.0**-digits


def rounding_reach(trace: Trace, step: str, by: str, digits: int) -> Float[Tensor, "..."]:
    r"""Compute the largest change of each cell of a step if every number of `by`, which it reads, is rounded.

    digits: the decimals of the rounded numbers, whatever the following digits were.

    For the head outputs this is $\frac{1}{2} 10^{-d} \sum_s |v_s|$: each weight may be off by half a unit, all to
    the same side.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.tensor([[3.0], [-1.0]]))
    >>> rounding_reach(trace, "head_outputs", "weights", 2).flatten()
    tensor([0.0200, 0.0200], dtype=torch.float64)
    """
    operation = trace.step(step).operation
    right = trace[step]
    half = half_a_unit(digits)
    with torch.inference_mode(False), torch.enable_grad():
        ranges = {}
        for name in operation.reads:
            value = trace[name].clone().double()
            ranges[name] = NumberRange(value, value)
        rounded = ranges[by].low
        ranges[by] = NumberRange(rounded - half, rounded + half)
        low, high = range_through(operation, ranges)
        return torch.maximum(high - right, right - low)


def find_farthest_from(numbers: Float[Tensor, "..."], wanted: float) -> float:
    """Find the number farthest from a wanted one, such as the sum of rounded weights that is farthest from 1.

    >>> find_farthest_from(torch.tensor([1.0, 0.75, 1.125]), 1.0)
    0.75
    """
    flat = numbers.flatten()
    gaps = (flat - wanted).abs()
    return flat[gaps.argmax()].item()
