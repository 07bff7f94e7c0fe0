"""Applies dropout to the weights of a run: some are dropped at random, the others scaled up, so that rows no longer sum
to 1.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.operations import DROP
from attention_core.mechanism.pair_inputs import draw_dropout_keep
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace


# ---- row sums: of the weights over the keys --------------------------------------------------------------------------
def sum_rows(weights: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T"]:
    return weights.sum(-1)  # over S


def sum_rows_numpy(weights):
    return np.einsum("bhts->bht", weights)


def sum_rows_formula(weights):
    return rf"\textstyle\sum_S {weights}"


def sum_rows_cell(index, weights: Operand) -> Cell:
    keys = range(weights.shape[-1])
    return Cell(tuple((weights[(*index, s)],) for s in keys))


SUM_ROWS = Faces(sum_rows, sum_rows_numpy, sum_rows_formula, sum_rows_cell)


def with_dropout(trace: Trace, p: float, seed: int = 0) -> Trace:
    r"""Add three steps to a run: `keep`, `dropped_weights` and `row_sums`.

    `keep` marks the kept weights, `dropped_weights` is $A \odot keep / (1 - p)$, and `row_sums` is the sum of each row
    of `dropped_weights`. That sum is 1 on average over all samples of `keep`, and seldom 1 in one of them.

    trace: a run without dropout; its other steps are not computed again. p: the probability of dropping a weight, from
    0 to below 1. seed: the seed for sampling the kept weights. Raises AttentionError (a ValueError) as AttentionConfig
    does. Sources: Srivastava et al. 2014, Dropout; applied to the weights: the code that Vaswani et al. 2017 published.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = with_dropout(attend_qkv(*[torch.zeros(2, 3)] * 3), p=0.5, seed=2)
    >>> trace["dropped_weights"][0, 0], trace["row_sums"][0, 0]
    (tensor([[1., 0.],
            [1., 1.]]), tensor([1., 2.]))
    """
    config = AttentionConfig(dropout=p, dropout_seed=seed)
    weights = trace["weights"]
    keep = draw_dropout_keep(config, tuple(weights.shape)).to(weights.device)
    steps = {**trace.steps, "keep": Step("keep", keep, SCORE_DIMS)}
    dropped = Operation(
        "dropped_weights",
        dims=SCORE_DIMS,
        reads=("weights", "keep"),
        faces=DROP,
        params={"p": float(p)},
    )
    sums = Operation(
        "row_sums",
        dims=SCORE_DIMS[:-1],
        reads=("dropped_weights",),
        faces=SUM_ROWS,
    )
    return replace(trace, steps=steps).then(dropped, sums)
