"""Blocks scores in several ways, with -inf or another number, filled in or added, and computes what weights a row
without an allowed key then gets.

A row of minus infinity alone has no softmax, because exp(-inf) / sum of exp(-inf) is 0 / 0. This package returns zeros
for such a row, as torch's scaled_dot_product_attention does. The other ways are wrong for such a row, and included
because textbooks and programs use them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.analysis.softmax_steps import STABLE_SOFTMAX
from attention_core.comparison.distances import LARGE_NEGATIVE_FILL
from attention_core.mechanism.normalisers import SOFTMAX
from attention_core.mechanism.operations import ADD, MASK
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.number_text import power_of_ten_latex, split_power
from attention_core.record.trace import Faces, Operation, Trace


# ---- additive mask: 0 or minus infinity ------------------------------------------------------------------------------
def zero_or_minus_infinity(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"]
) -> Float[Tensor, "#B #H T S"]:
    zeros = scores.new_zeros(allowed.shape)  # (T, S): operand of the mask, whose numbers are not read
    return zeros.masked_fill(~allowed, float("-inf"))


def zero_or_minus_infinity_numpy(scores, allowed):
    return np.where(allowed, 0.0, -np.inf)


def zero_or_minus_infinity_formula(scores, allowed):
    return rf"\begin{{cases}} 0 & {allowed} \\ -\infty & \text{{else}} \end{{cases}}"


def zero_or_minus_infinity_cell(index, scores: Operand, allowed: Operand) -> Cell:
    return Cell(((Constant(0.0, "0"),), (allowed[index],)), function="select")


ZERO_OR_MINUS_INFINITY = Faces(
    zero_or_minus_infinity, zero_or_minus_infinity_numpy, zero_or_minus_infinity_formula, zero_or_minus_infinity_cell
)


def with_additive_mask(trace: Trace) -> Trace:
    r"""Add the steps `additive_mask` and `added_scores` to a run with a mask.

    The additive mask is $M_{ij} = 0$ if query i may attend to key j, else $-\infty$, and `added_scores` is $scores +
    M$. This sum equals `masked_scores`, in which blocked scores are filled with $-\infty$, because $x + 0 = x$ and $x -
    \infty = -\infty$.

    trace: a run with a step `allowed`; its existing steps are unchanged. Returns a Trace. Raises KeyError for a run
    without a mask. Sources: Vaswani et al. 2017, section 3.2.3 (blocked scores are minus infinity); torch's
    documentation of scaled_dot_product_attention (a float attn_mask is added).

    >>> import torch
    >>> from attention_core import AttentionConfig, attend
    >>> run = with_additive_mask(attend(torch.eye(2), config=AttentionConfig(masks=["causal"])))
    >>> run["additive_mask"][0, 0]
    tensor([[0., -inf],
            [0., 0.]])
    >>> torch.equal(run["added_scores"], run["masked_scores"])
    True
    """
    trace.step("allowed")  # raises KeyError if the run has no mask
    scores, *_ = trace.step("masked_scores").operation.reads
    mask = Operation("additive_mask", SCORE_DIMS, (scores, "allowed"), ZERO_OR_MINUS_INFINITY)
    added = Operation("added_scores", SCORE_DIMS, (scores, "additive_mask"), ADD)
    return trace.then(mask, added)


def count_equal_scores(trace: Trace) -> tuple[int, int]:
    """Count, in the first sentence's first head, the scores that are equal after adding the mask and after filling in
    -inf: (equal, all).

    trace: a result of with_additive_mask, which has the scores of both ways of masking.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend
    >>> count_equal_scores(with_additive_mask(attend(torch.eye(3), config=AttentionConfig(masks=["causal"]))))
    (9, 9)
    """
    added, filled = trace["added_scores"][0, 0], trace["masked_scores"][0, 0]  # (T, S)
    return int((added == filled).sum()), filled.numel()


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
    return Cell(((scores[index],), (allowed[index],), (large_constant(value),)), function="select")


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
    score = scores[index]
    shift = (large_constant(value),)
    shift_back = (large_constant(-value), allowed[index])
    return Cell(((score,), shift, shift_back))


ADD_TO_BLOCKED = Faces(add_to_blocked, add_to_blocked_numpy, add_to_blocked_formula, add_to_blocked_cell)


# ---- large numbers as they are written -------------------------------------------------------------------------------
def large_constant(value: float) -> Constant:
    """Return a large number as a Constant; it is displayed in a form like −1e9."""
    digits, power = split_power(value)
    text = f"{digits}e{power}"
    return Constant(value, text.replace("-", "−", 1))


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class EmptyRowPolicy:
    """How blocked scores are marked, and whether a row without an allowed key gets weights 0.

    mask: the operation that marks blocked scores. value: the number that the operation fills in or adds; None stands
    for the lowest number of the precision; MASK ignores it and fills in -inf. rule: True if a row without an allowed
    key gets weights 0.
    """

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
    """Compute a run again from its inputs, with another rule for rows without an allowed key.

    name: one of EMPTY_ROW_POLICIES. The name decides the result for a query without an allowed key:

    - "zero": weights 0 and output 0, as in this package and in scaled_dot_product_attention.
    - "plain": NaN.
    - "filled" with -1e9: the query attends uniformly to every key, although all keys are blocked.
    - "added": -1e9 on every score shifts the whole row, so that the query attends as if without a mask. The weights are
      uniform if the precision rounds the scores away beside -1e9, as float32 does.
    - "lowest": filled with the lowest number of the precision; the query attends uniformly.

    All other rows are the same under every rule. For nn.MultiheadAttention see
    verification.mask_conventions.run_torch_layer.

    trace: a run with a mask. dtype: the precision to which the inputs are cast; None keeps that of the run. In float16
    -1e9 is -inf, so that "filled" and "added" give NaN. Returns a Trace; its proof reports the wrong rows. Raises
    AttentionError (a ValueError) for an unknown name, KeyError for a run without a mask. Sources: torch's documentation
    of scaled_dot_product_attention; pytorch issue 41508 (NaN); Devlin et al. 2019, BERT (added).

    >>> from attention_core import attend_qkv
    >>> allowed = torch.tensor([[True, True], [False, False]])
    >>> trace = attend_qkv(torch.eye(2).double(), torch.eye(2).double(), torch.eye(2).double(), allowed=allowed)
    >>> policies = ("zero", "plain", "filled")
    >>> {name: with_empty_row_policy(trace, name)["weights"][0, 0, 1, 0].item() for name in policies}
    {'zero': 0.0, 'plain': nan, 'filled': 0.5}
    """
    require_one_of("treatment", name, tuple(EMPTY_ROW_POLICIES))
    policy = EMPTY_ROW_POLICIES[name]
    trace.step("allowed")  # raises KeyError if the run has no mask
    inputs = {}
    for input_name, step in trace.inputs().items():
        inputs[input_name] = replace(step, value=cast_floats(step.value, dtype))
    fill = policy.value
    if fill is None:
        first = next(iter(inputs.values()))
        fill = torch.finfo(first.dtype).min
    operations = []
    for step in trace.computed().values():
        operations.extend(replace_operation(step.operation, policy, fill))
    return replace(trace, steps=inputs).then(*operations)


def cast_floats(value: Tensor, dtype: torch.dtype | None) -> Tensor:
    """Cast a floating-point tensor to another precision; return a boolean or integer tensor unchanged."""
    if not value.is_floating_point():
        return value
    return value.to(dtype)


def replace_operation(operation: Operation, policy: EmptyRowPolicy, fill: float) -> tuple[Operation, ...]:
    """Return the operations that replace `operation` under a policy: those of the policy for a mask or a softmax, else
    `operation` itself.

    fill: the number that the policy's mask uses instead of -inf.
    """
    if operation.faces == MASK and policy.mask != MASK:
        return (replace(operation, faces=policy.mask, params={"value": fill}),)
    if operation.faces == SOFTMAX and not policy.rule:
        exponentials, shares = STABLE_SOFTMAX
        return exponentials, replace(shares, output=operation.output)
    return (operation,)
