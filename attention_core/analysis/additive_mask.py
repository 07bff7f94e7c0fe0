"""A mask as a matrix that is added: 0 where a pair is allowed, minus infinity where it is blocked."""

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.operations import ADD
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.trace import Faces, Operation, Trace


# ---- additive mask: 0 or minus infinity ------------------------------------------------------------------------------
def zero_or_minus_infinity(
    scores: Float[Tensor, "B H T S"], allowed: Bool[Tensor, "#B #H T S"]
) -> Float[Tensor, "#B #H T S"]:
    zeros = scores.new_zeros(allowed.shape)  # in the precision of the scores, of which no number is read
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
    r"""Add two steps to a run with a mask: `additive_mask` and `added_scores`.

    $M_{ij} = 0$ if query i may attend to key j, else $-\infty$; `added_scores` is $scores + M$, the same as
    `masked_scores`, in which blocked scores are filled: $x + 0 = x$, and $x - \infty = -\infty$.

    trace: a run with a step `allowed`, whose own steps stay as they are. Returns a Trace. Raises KeyError for a run
    without a mask. Source: Vaswani et al. 2017, section 3.2.3 (blocked scores are minus infinity); the matrix: torch's
    documentation of scaled_dot_product_attention (attn_mask of numbers).

    >>> import torch
    >>> from attention_core import AttentionConfig, attend
    >>> run = with_additive_mask(attend(torch.eye(2), config=AttentionConfig(masks=["causal"])))
    >>> run["additive_mask"][0, 0]
    tensor([[0., -inf],
            [0., 0.]])
    >>> torch.equal(run["added_scores"], run["masked_scores"])
    True
    """
    trace.step("allowed")  # raises KeyError for a run without a mask
    scores, *_ = trace.step("masked_scores").operation.reads
    mask = Operation("additive_mask", SCORE_DIMS, (scores, "allowed"), ZERO_OR_MINUS_INFINITY)
    added = Operation("added_scores", SCORE_DIMS, (scores, "additive_mask"), ADD)
    return trace.then(mask, added)


def count_equal_scores(trace: Trace) -> tuple[int, int]:
    """Count the scores that are equal after adding and after filling, and all scores: of the first head and text.

    trace: a result of with_additive_mask.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend
    >>> count_equal_scores(with_additive_mask(attend(torch.eye(3), config=AttentionConfig(masks=["causal"]))))
    (9, 9)
    """
    added, filled = trace["added_scores"][0, 0], trace["masked_scores"][0, 0]  # (T, S)
    return int((added == filled).sum()), filled.numel()
