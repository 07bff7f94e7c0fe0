"""The softmax in its two halves, exponentials and shares, in two forms: as it is defined, and as it is computed.

Subtracting the largest score from a row changes no weight, and keeps every exponential at 1 or less. Without that,
exp(89) is more than float32 holds, exp(710) more than float64, exp(12) more than float16: infinity over infinity is
NaN. Both forms are steps to append to a run: `trace.then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)`.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation


# ---- exp of every score, as the softmax is defined -------------------------------------------------------------------
def exponentiate(masked_scores: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S"]:
    return torch.exp(masked_scores)


def exponentiate_numpy(masked_scores):
    return np.exp(masked_scores)


def exponentiate_formula(masked_scores):
    return rf"\exp({masked_scores})"


def exponentiate_cell(index, masked_scores: Operand) -> Cell:
    return Cell(((masked_scores[index],),), function="exp")


EXP = Faces(exponentiate, exponentiate_numpy, exponentiate_formula, exponentiate_cell)


# ---- exp of how far a score lies below its row's largest: at most exp(0) = 1 -----------------------------------------
def exponentiate_below(masked_scores: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S"]:
    largest = masked_scores.amax(-1, keepdim=True)  # (B, H, T, 1)
    return torch.exp(masked_scores - largest)


def exponentiate_below_numpy(masked_scores):
    largest = np.max(masked_scores, axis=-1)[..., None]  # (B, H, T, 1)
    return np.exp(masked_scores - largest)


def exponentiate_below_formula(masked_scores):
    return rf"\exp({masked_scores} - \max_S {masked_scores})"


def exponentiate_below_cell(index, masked_scores: Operand) -> Cell:
    *row, chosen = index
    scores = []
    for s in range(masked_scores.shape[-1]):
        score = masked_scores[(*row, s)]
        scores.append((score,))
    return Cell((scores[chosen], *scores), function="exp_below")


EXP_BELOW = Faces(exponentiate_below, exponentiate_below_numpy, exponentiate_below_formula, exponentiate_below_cell)


# ---- the share of a row's sum that each of them is -------------------------------------------------------------------
def divide_by_sum(exponentials: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S"]:
    return exponentials / exponentials.sum(-1, keepdim=True)  # inf / inf and 0 / 0 are NaN


def divide_by_sum_numpy(exponentials):
    sums = np.einsum("bhts->bht", exponentials)[..., None]  # (B, H, T, 1)
    return np.divide(exponentials, sums)


def divide_by_sum_formula(exponentials):
    return rf"{exponentials} \,/\, \textstyle\sum_S {exponentials}"


def divide_by_sum_cell(index, exponentials: Operand) -> Cell:
    *row, chosen = index
    terms = []
    for s in range(exponentials.shape[-1]):
        exponential = exponentials[(*row, s)]
        terms.append((exponential,))
    return Cell((terms[chosen], *terms), function="quotient")


DIVIDE_BY_SUM = Faces(divide_by_sum, divide_by_sum_numpy, divide_by_sum_formula, divide_by_sum_cell)


# ---- the steps -------------------------------------------------------------------------------------------------------
NAIVE_SOFTMAX = (
    Operation("exponentials", SCORE_DIMS, ("masked_scores",), EXP),
    Operation("naive_weights", SCORE_DIMS, ("exponentials",), DIVIDE_BY_SUM),
)
STABLE_SOFTMAX = (
    Operation("stable_exponentials", SCORE_DIMS, ("masked_scores",), EXP_BELOW),
    Operation("stable_weights", SCORE_DIMS, ("stable_exponentials",), DIVIDE_BY_SUM),
)
