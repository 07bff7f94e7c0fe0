"""The cross-entropy of weights that are read as probabilities, and its gradient in the scores, as steps of a run."""

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
    r"""Add the steps `loss` and `loss_gradient` to a run whose weights are read as probabilities.

    $L = -\ln w_r$ and $\partial L / \partial x_j = w_j - \delta_{jr}$ for every row, in nats; x are the scores that the
    softmax reads. If weights were replaced or chosen, those of the softmax count. right: r, the position of the
    right answer. Raises AttentionError: not_negative, at_most, and what require_softmax raises.
    Source: Goodfellow, Bengio, Courville 2016, *Deep Learning*, sections 6.2.1.1 and 6.2.2.3.

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
