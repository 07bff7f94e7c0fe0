"""Computes how information flows across layers: which inputs can reach an output under a mask, and attention
rollout.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.errors import AttentionError


def reachable_inputs(allowed: Bool[Tensor, "*batch T T"], layers: int) -> Bool[Tensor, "*batch T T"]:
    r"""Mark which inputs j can influence position i after a number of layers: a boolean tensor indexed [i, j].

    $R_L = (A \lor I)^L$ in truth values: if i attends to j, everything that has reached j also reaches i. Every
    position reaches itself, even if the mask blocks it, because its query is computed there and the residual connection
    adds its vector. With a window of w keys on both sides, an input reaches L w positions after L layers, as in a stack
    of convolutions (Beltagy et al. 2020, Longformer, section 3.1). Under a causal mask an input reaches later positions
    only.

    allowed: boolean (T, T), True = may attend. Leading axes are batch axes, computed separately. If one of several
    heads suffices, pass `allowed.any(-3)`. layers: 0 or more; after 0 layers each position is reached by itself alone.
    An input marked False cannot change the position. An input marked True can; with residual connections it does for
    almost all weights.

    Raises AttentionError (a ValueError) for a mask that is not square, or not boolean.

    >>> near = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).bool()
    >>> reachable_inputs(near, layers=1)[0], reachable_inputs(near, layers=2)[0]
    (tensor([ True,  True, False]), tensor([True, True, True]))
    """
    return path_lengths(allowed) <= layers


def path_lengths(allowed: Bool[Tensor, "*batch T T"]) -> Float[Tensor, "*batch T T"]:
    """Count the fewest layers in which input j reaches position i, by breadth-first search; inf if it never does.

    allowed: boolean (T, T), True if position i may attend to j, so that j reaches i in one layer. Raises AttentionError
    (a ValueError) for a mask that is not square, or not boolean.

    >>> path_lengths(torch.tensor([[True, False, False], [True, True, False], [False, True, True]]))
    tensor([[0., inf, inf],
            [1., 0., inf],
            [2., 1., 0.]])
    """
    check_square_mask(allowed)
    T = allowed.shape[-1]
    itself = torch.eye(T, dtype=torch.bool, device=allowed.device)
    one_step = (allowed | itself).float()
    reached = itself.expand_as(allowed)
    lengths = torch.where(reached, 0.0, torch.inf)
    for steps in range(1, T):
        paths = one_step @ reached.float()  # (T, T) x (T, T): number of paths with one more layer
        further = paths > 0
        if torch.equal(further, reached):
            break
        is_new = further & ~reached
        lengths = torch.where(is_new, float(steps), lengths)
        reached = further
    return lengths


def check_square_mask(allowed: Tensor) -> None:
    """Raise AttentionError for a mask that is not boolean or not square."""
    if allowed.dtype != torch.bool:
        raise AttentionError("allowed_not_bool", name="allowed", given=allowed.dtype)
    shape = tuple(allowed.shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise AttentionError("mask_square", name="allowed", shape=shape)


def roll_out(weights: Float[Tensor, "L H T T"]) -> Float[Tensor, "L T T"]:
    """Compute attention rollout: multiply the layers' head-averaged weights, each mixed equally with the identity.

    R_l = A_l R_(l-1) with R_0 = I and A_l = W_l / 2 + I / 2, where W_l is the mean of the heads of layer l. Values and
    feed-forward layers are ignored.

    weights: (L, H, T, T) of one sentence, the first layer first. Returns R after each layer. The rows of R sum to 1 if
    the rows of the weights do.

    Raises AttentionError (a ValueError) if there are not four axes, or the queries are not the keys.

    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.

    >>> roll_out(torch.tensor([[[[1.0, 0], [1, 0]]]] * 2))[-1].tolist()  # two layers look at the first word
    [[1.0, 0.0], [0.75, 0.25]]
    """
    if weights.ndim != 4 or weights.shape[-2] != weights.shape[-1]:
        raise AttentionError("rank", name="weights", axes="(L, H, T, T)", shape=tuple(weights.shape))
    own = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    rolled = own
    layers = []
    for layer in weights.mean(1):  # (T, T)
        rolled = (layer / 2 + own / 2) @ rolled  # (T, T) x (T, T) -> (T, T)
        layers.append(rolled)
    return torch.stack(layers)
