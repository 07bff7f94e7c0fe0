"""Dropout on the weights of a run that has none: what is kept grows, and the rows no longer sum to 1."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.attention import draw_dropout_keep
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.operations import DROP
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace


# ---- sums: of each row of weights ------------------------------------------------------------------------------------
def sum_rows(weights: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T"]:
    return weights.sum(-1)  # over S


def sum_rows_numpy(weights):
    return np.einsum("bhts->bht", weights)


def sum_rows_formula(weights):
    return rf"\textstyle\sum_S {weights}"


def sum_rows_cell(index, weights: Operand) -> Cell:
    return Cell(tuple((weights[(*index, s)],) for s in range(weights.shape[-1])))


SUM_ROWS = Faces(sum_rows, sum_rows_numpy, sum_rows_formula, sum_rows_cell)


def with_dropout(trace: Trace, p: float, seed: int = 0) -> Trace:
    r"""The run with three more steps: `keep`, which weights stay; `dropped_weights`, $A \odot keep / (1 - p)$; and
    `row_sums`, what each row of them sums to. On average over all draws that is 1, in one draw it seldom is.

    trace: a run without dropout, whose later steps stay as they are. p: the probability of dropping a weight, from 0 to
    below 1; seed: of the draw. Raises AttentionError (a ValueError) as AttentionConfig does. Source: Srivastava et al.
    2014, Dropout; on the weights: the code that Vaswani et al. 2017 published.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = with_dropout(attend_qkv(*[torch.zeros(2, 3)] * 3), p=0.5, seed=2)
    >>> trace["dropped_weights"][0, 0], trace["row_sums"][0, 0]
    (tensor([[1., 0.],
            [1., 1.]]), tensor([1., 2.]))
    """
    config = AttentionConfig(dropout=p, dropout_seed=seed)
    keep = draw_dropout_keep(config, tuple(trace["weights"].shape))
    kept = replace(trace, steps={**trace.steps, "keep": Step("keep", keep, SCORE_DIMS)})
    return kept.then(
        Operation("dropped_weights", SCORE_DIMS, ("weights", "keep"), DROP, {"p": float(p)}),
        Operation("row_sums", SCORE_DIMS[:-1], ("dropped_weights",), SUM_ROWS),
    )
