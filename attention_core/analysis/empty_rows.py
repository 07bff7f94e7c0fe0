"""A query that may attend to nothing, as five kinds of code treat it: the same run with another mask or softmax.

A row of minus infinity alone has no softmax: exp(-inf) / sum of exp(-inf) is 0 / 0. Ours and torch's
scaled_dot_product_attention give zeros. The others are here because they are taught and used, not because they are
right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.analysis.softmax_stages import STABLE_SOFTMAX
from attention_core.comparison.distances import LARGE_NEGATIVE_FILL
from attention_core.mechanism.config import require_one_of
from attention_core.mechanism.operations import MASK, SOFTMAX
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.trace import Faces, Operation, Trace


# ---- fill: a large negative number in the place of blocked scores ----------------------------------------------------
def fill_scores(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"], *, value: float
) -> Float[Tensor, "B H T S"]:
    return torch.where(allowed, scores, value)


def fill_scores_numpy(scores, allowed, *, value):
    return np.where(allowed, scores, value)


def fill_scores_formula(scores, allowed, *, value):
    return rf"\begin{{cases}} {scores} & {allowed} \\ {power_of_ten_latex(value)} & \text{{else}} \end{{cases}}"


def fill_scores_cell(index, scores: Operand, allowed: Operand, *, value) -> Cell:
    return Cell(((scores[index],), (allowed[index],), (large_constant(value),)), outer="select")


FILL_SCORES = Faces(fill_scores, fill_scores_numpy, fill_scores_formula, fill_scores_cell)


# ---- add: a large negative number onto blocked scores (Devlin et al. 2019, the authors' published code) --------------
def add_to_blocked(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"], *, value: float
) -> Float[Tensor, "B H T S"]:
    return scores + (1 - allowed.to(scores.dtype)) * value


def add_to_blocked_numpy(scores, allowed, *, value):
    return np.where(allowed, scores, scores + value)


def add_to_blocked_formula(scores, allowed, *, value):
    return rf"{scores} + (1 - {allowed}) \cdot ({power_of_ten_latex(value)})"


def add_to_blocked_cell(index, scores: Operand, allowed: Operand, *, value) -> Cell:
    return Cell(((scores[index],), (large_constant(value),), (large_constant(-value), allowed[index])))


ADD_TO_BLOCKED = Faces(add_to_blocked, add_to_blocked_numpy, add_to_blocked_formula, add_to_blocked_cell)


# ---- large numbers as they are written -------------------------------------------------------------------------------
def large_constant(value: float) -> Constant:
    """A large number in one cell's arithmetic: −1e9."""
    digits, _, power = f"{value:.2g}".partition("e")
    return Constant(value, f"{digits}e{int(power or 0)}".replace("-", "−", 1))


def power_of_ten_latex(value: float) -> str:
    """A large number in a formula.

    >>> power_of_ten_latex(-1e9), power_of_ten_latex(-3.4e38)
    ('-10^{9}', '-3.4 \\\\cdot 10^{38}')
    """
    digits, _, power = f"{value:.2g}".partition("e")
    sign, size = ("-" if value < 0 else ""), digits.lstrip("-")
    return sign + ("" if size == "1" else rf"{size} \cdot ") + f"10^{{{int(power or 0)}}}"


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class EmptyRowPolicy:
    """How blocked scores are marked, and whether a row without a key has a rule of its own in the softmax. value: what
    the mask takes for -inf; None: the lowest number of the precision."""

    mask: Faces
    value: float | None = None
    rule: bool = False


EMPTY_ROW_POLICIES: Mapping[str, EmptyRowPolicy] = MappingProxyType(
    {
        "zero": EmptyRowPolicy(MASK, rule=True),
        "plain": EmptyRowPolicy(MASK),
        "filled": EmptyRowPolicy(FILL_SCORES, LARGE_NEGATIVE_FILL),
        "added": EmptyRowPolicy(ADD_TO_BLOCKED, LARGE_NEGATIVE_FILL),
        "lowest": EmptyRowPolicy(FILL_SCORES),
    }
)


def with_empty_row_policy(trace: Trace, name: str, dtype: torch.dtype | None = None) -> Trace:
    """The run as another kind of code has it, computed from its inputs on in a precision.

    name: one of TREATMENTS. What becomes of a query that may attend to nothing: "zero", weights 0 and output 0, as here
    and in scaled_dot_product_attention; "plain", NaN; "filled" with -1e9, an even share of every key, which it may not
    attend to; "added", -1e9 on every score of the row, shifts it, so that it attends as if without a mask, and evenly
    where the precision swallows the scores beside -1e9, as float32 does; "lowest", filled with the lowest number of the
    precision, evenly. (nn.MultiheadAttention itself: conventions.torch_layer.) All other rows agree.

    trace: a run with a mask. dtype: of the inputs and so of every step; None: the run's own. In float16 -1e9 is -inf,
    so that "filled" and "added" give NaN. Returns a Trace; its proof names what is wrong with it. Raises AttentionError
    (a ValueError) for an unknown name, KeyError for a run without a mask. Source: torch's documentation of
    scaled_dot_product_attention; pytorch issue 41508 (NaN); Devlin et al. 2019, BERT (added).

    >>> from attention_core import attend_qkv
    >>> allowed = torch.tensor([[True, True], [False, False]])
    >>> trace = attend_qkv(torch.eye(2).double(), torch.eye(2).double(), torch.eye(2).double(), allowed=allowed)
    >>> policies = ("zero", "plain", "filled")
    >>> {name: with_empty_row_policy(trace, name)["weights"][0, 0, 1, 0].item() for name in policies}
    {'zero': 0.0, 'plain': nan, 'filled': 0.5}
    """
    treatment = EMPTY_ROW_POLICIES[require_one_of("treatment", name, tuple(EMPTY_ROW_POLICIES))]
    trace.step("allowed")
    inputs = {name: replace(step, value=cast_floats(step.value, dtype)) for name, step in trace.inputs().items()}
    lowest = torch.finfo(next(iter(inputs.values())).value.dtype).min
    value = lowest if treatment.value is None else treatment.value
    operations = [
        part for step in trace.computed().values() for part in replace_operation(step.operation, treatment, value)
    ]
    return replace(trace, steps=inputs).then(*operations)


def cast_floats(value: Tensor, dtype: torch.dtype | None) -> Tensor:
    """Numbers in another precision; truth values as they are."""
    return value.to(dtype) if value.is_floating_point() else value


def replace_operation(operation: Operation, treatment: EmptyRowPolicy, value: float) -> tuple[Operation, ...]:
    """What stands in the place of an operation: itself, but for the mask and the softmax."""
    if operation.faces == MASK and treatment.mask != MASK:
        return (replace(operation, faces=treatment.mask, params={"value": value}),)
    if operation.faces == SOFTMAX and not treatment.rule:
        exponentials, shares = STABLE_SOFTMAX
        return exponentials, replace(shares, output=operation.output)
    return (operation,)
