"""Which inputs can change an output after several layers under one mask, and how many layers that takes."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.errors import AttentionError


def reachable_inputs(allowed: Bool[Tensor, "*batch T T"], layers: int) -> Bool[Tensor, "*batch T T"]:
    r"""Mark which inputs j can change the number at position i after some layers, as [i, j].

    $R_L = (A \lor I)^L$ in truth values: a position that i attends to passes on all that has reached it. Every position
    reaches itself, even if the mask blocks it: the query is computed there, and the residual carries it on. With a
    window of w keys on both sides, an input reaches L w positions after L layers, as in a stack of convolutions
    (Beltagy et al. 2020, Longformer, section 3.1). Under a causal mask it reaches later positions only.

    allowed: boolean (T, T), True = may attend. Axes before these are kept apart; if any one of several heads is
    enough, give `allowed.any(-3)`. layers: 0 or more; after 0 layers each position has reached itself alone. What is
    False cannot change at all; what is True can change, and does for almost all weights if the residual is kept.

    Raises AttentionError (a ValueError) for a mask that is not square, or not boolean.

    >>> near = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).bool()
    >>> reachable_inputs(near, layers=1)[0], reachable_inputs(near, layers=2)[0]
    (tensor([ True,  True, False]), tensor([True, True, True]))
    """
    return path_lengths(allowed) <= layers


def path_lengths(allowed: Bool[Tensor, "*batch T T"]) -> Float[Tensor, "*batch T T"]:
    """Count the fewest layers, or steps, in which input j reaches position i, by breadth-first search; else inf.

    allowed: as for reachable_inputs: True if j reaches i in one step. Raises as reachable_inputs does.

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
        paths = one_step @ reached.float()  # (T, T) x (T, T): from what has reached the positions that i attends to
        further = paths > 0
        if torch.equal(further, reached):
            break
        is_new = further & ~reached
        lengths = torch.where(is_new, float(steps), lengths)
        reached = further
    return lengths


def check_square_mask(allowed: Tensor) -> None:
    """Raise AttentionError for a mask that is not boolean, or not square."""
    if allowed.dtype != torch.bool:
        raise AttentionError("allowed_not_bool", name="allowed", given=allowed.dtype)
    shape = tuple(allowed.shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise AttentionError("mask_square", name="allowed", shape=shape)
