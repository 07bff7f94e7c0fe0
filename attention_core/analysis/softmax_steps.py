"""Adds steps to a run: its softmax as exponentials and their sum, naive and stable, the softmax's Jacobian, a
cross-entropy's gradient.

Subtracting the largest score from a row changes no weight, and keeps every exponential at 1 or less. Without the
subtraction, exp(89) overflows in float32, exp(710) in float64, exp(12) in float16, and infinity over infinity is NaN.
The naive and the stable form are steps to append to a run: `trace.then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)`.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.normalisers import computed_weights_of, require_softmax
from attention_core.mechanism.plain_checks import require_not_negative
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.trace import Faces, Operation, Trace

MAX_JACOBIAN_BYTES = 256 * 2**20  # largest size in bytes of the Jacobians of all rows, (B, H, T, S, S')


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
    return exponentials / exponentials.sum(
        -1, keepdim=True
    )  # naive softmax: inf / inf (overflow) and 0 / 0 (underflow) are NaN


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


# ---- the Jacobian of every row's softmax -----------------------------------------------------------------------------
def softmax_jacobian(weights: Float[Tensor, "B H T S"]) -> Float[Tensor, "B H T S S"]:
    S = weights.shape[-1]
    diagonal = torch.eye(S, dtype=weights.dtype, device=weights.device)  # (S, S)
    others = weights @ (1 - diagonal)  # (B, H, T, S): 1 - w as the sum of the other weights, which is exact near w = 1
    own_change = others.unsqueeze(-1)  # (B, H, T, S, 1)
    other_change = -weights.unsqueeze(-2)  # (B, H, T, 1, S)
    changes = torch.where(diagonal.bool(), own_change, other_change)  # (B, H, T, S, S)
    return weights.unsqueeze(-1) * changes  # (B, H, T, S, 1) x (B, H, T, S, S)


def softmax_jacobian_numpy(weights):
    jacobian = -np.einsum("bhti,bhtj->bhtij", weights, weights)
    i = np.arange(weights.shape[-1])
    jacobian[..., i, i] = 0.0
    jacobian[..., i, i] = -jacobian.sum(-1)  # the sum of all weights is constant, so each row's changes sum to 0
    return jacobian


def softmax_jacobian_formula(weights):
    return rf"{weights}_i\,(\delta_{{ij}} - {weights}_j)"


def softmax_jacobian_cell(index, weights: Operand) -> Cell:
    *row, i, j = index
    delta = int(i == j)
    own_weight = weights[(*row, i)]
    other_weight = weights[(*row, j)]
    is_own = Constant(float(delta), str(delta))
    return Cell(((own_weight,), (is_own,), (other_weight,)), function="slope")


JACOBIAN = Faces(softmax_jacobian, softmax_jacobian_numpy, softmax_jacobian_formula, softmax_jacobian_cell)


def with_jacobian(trace: Trace) -> Trace:
    r"""Add the step `jacobian` to a run: how much weight i changes with score j of the softmax's input, for every row.

    $J_{ij} = \partial w_i / \partial x_j = w_i (\delta_{ij} - w_j)$, with axes (B, H, T, S, S'); S' runs over the
    scores. If other weights replace the computed ones, the Jacobian is still that of the computed ones. If one weight
    is nearly 1, the whole Jacobian is nearly 0, and so is the gradient.

    Raises AttentionError if the Jacobian would take more than MAX_JACOBIAN_BYTES. Source: the quotient rule on $e^{x_i}
    / \sum_j e^{x_j}$; that large scores make it small: Vaswani et al. 2017, section 3.2.1.

    >>> from attention_core import attend_qkv
    >>> trace = with_jacobian(attend_qkv(torch.tensor([[0.0]]), torch.tensor([[1.0], [2.0]]), torch.eye(2)))
    >>> trace["jacobian"][0, 0, 0]
    tensor([[ 0.2500, -0.2500],
            [-0.2500,  0.2500]])
    """
    require_softmax(trace, "the Jacobian")
    softmax = computed_weights_of(trace)
    weights = trace[softmax]
    count = weights.numel() * weights.shape[-1]
    needed = count * weights.element_size()
    if needed > MAX_JACOBIAN_BYTES:
        raise AttentionError("jacobian_too_large", needed=needed, limit=MAX_JACOBIAN_BYTES)
    jacobian = Operation(
        "jacobian",
        dims=(*SCORE_DIMS, "S'"),
        reads=(softmax,),
        faces=JACOBIAN,
    )
    longer = trace.then(jacobian)
    words = trace.labels.get("S")
    if words is None:
        return longer
    return longer.labelled(**{"S'": words})


# ---- loss: minus the logarithm of the share of the right one ---------------------------------------------------------
def cross_entropy(weights: Float[Tensor, "B H T S"], *, right: int) -> Float[Tensor, "B H T"]:
    return -torch.log(weights[..., right])


def cross_entropy_numpy(weights, *, right):
    return -np.log(weights[..., right])


def cross_entropy_formula(weights, *, right):
    return rf"-\ln {weights}_{{{right + 1}}}"


def cross_entropy_cell(index, weights: Operand, *, right) -> Cell:
    return Cell(((weights[(*index, right)],),), function="minus_ln")


CROSS_ENTROPY = Faces(cross_entropy, cross_entropy_numpy, cross_entropy_formula, cross_entropy_cell)


# ---- the slope of the loss in every score: its share, less 1 for the right one ---------------------------------------
def loss_slopes(weights: Float[Tensor, "B H T S"], *, right: int) -> Float[Tensor, "B H T S"]:
    S = weights.shape[-1]
    is_right = torch.arange(S, device=weights.device) == right  # (S,)
    return weights - is_right.to(weights.dtype)


def loss_slopes_numpy(weights, *, right):
    is_right = np.arange(weights.shape[-1]) == right
    return weights - is_right


def loss_slopes_formula(weights, *, right):
    return rf"{weights}_j - \delta_{{j,{right + 1}}}"


def loss_slopes_cell(index, weights: Operand, *, right) -> Cell:
    *_, j = index
    own = (weights[index],)
    if j != right:
        return Cell((own,))
    return Cell((own, (Constant(-1.0, "−1"),)))


LOSS_SLOPES = Faces(loss_slopes, loss_slopes_numpy, loss_slopes_formula, loss_slopes_cell)


def with_cross_entropy(trace: Trace, right: int) -> Trace:
    r"""Add the steps `loss` and `loss_gradient` to a run, with its weights taken as the probabilities of a prediction.

    $L = -\ln w_r$ and $\partial L / \partial x_j = w_j - \delta_{jr}$ for every row, in nats; x are the scores that the
    softmax reads. If other weights replace the computed ones, the computed ones are used. right: r, the position of the
    right answer. Raises AttentionError: not_negative, at_most, and what require_softmax raises. Source: Goodfellow,
    Bengio, Courville 2016, *Deep Learning*, sections 6.2.1.1 and 6.2.2.3.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.tensor([[0.0]]), torch.tensor([[1.0], [2.0]]), torch.eye(2))
    >>> learning = with_cross_entropy(trace, right=1)
    >>> round(learning["loss"].item(), 3), learning["loss_gradient"][0, 0, 0]
    (0.693, tensor([ 0.5000, -0.5000]))
    """
    require_softmax(trace, "the cross-entropy")
    softmax = computed_weights_of(trace)
    last = trace[softmax].shape[-1] - 1
    if require_not_negative("right", right) > last:
        raise AttentionError("at_most", name="right", limit=last, given=right)
    params = {"right": right}
    loss = Operation("loss", SCORE_DIMS[:-1], (softmax,), CROSS_ENTROPY, params)
    slopes = Operation("loss_gradient", SCORE_DIMS, (softmax,), LOSS_SLOPES, params)
    return trace.then(loss, slopes)
