"""How far news travels: which inputs can change an output after several layers under one mask."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.errors import AttentionError


def reachable_inputs(allowed: Bool[Tensor, "*batch T T"], layers: int) -> Bool[Tensor, "*batch T T"]:
    r"""Which inputs j can change what stands at position i after a number of layers: [i, j].

    $R_L = (A \lor I)^L$ in truth values: what i attends to brings all that it has heard itself. A position always
    counts as hearing itself, mask or not: the query asks from there, and the residual carries it on. So with a window
    of w keys on both sides news has gone L w positions after L layers, as in a stack of convolutions (Beltagy et al.
    2020, Longformer, section 3.1), and under a causal mask it goes one way for ever.

    allowed: boolean (T, T), True = may attend, more axes before it are kept apart; of several heads any one is enough:
    `allowed.any(-3)`. layers: 0 or more; after none each has heard itself alone. What is False cannot change at all;
    what is True can, and does for almost all weights where the residual is kept.

    Raises AttentionError (a ValueError) for a mask that is not square, or not boolean.

    >>> near = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).bool()
    >>> reachable_inputs(near, layers=1)[0], reachable_inputs(near, layers=2)[0]
    (tensor([ True,  True, False]), tensor([True, True, True]))
    """
    return path_lengths(allowed) <= layers


def path_lengths(allowed: Bool[Tensor, "*batch T T"]) -> Float[Tensor, "*batch T T"]:
    """The fewest layers, or steps, in which news from j reaches i, by a search in breadth; inf where it never does.

    allowed: as for reach: True where i hears from j in one step. Raises as reach does.

    >>> path_lengths(torch.tensor([[True, False, False], [True, True, False], [False, True, True]]))
    tensor([[0., inf, inf],
            [1., 0., inf],
            [2., 1., 0.]])
    """
    if allowed.dtype != torch.bool:
        raise AttentionError("allowed_not_bool", name="allowed", given=allowed.dtype)
    if allowed.dim() < 2 or allowed.shape[-1] != allowed.shape[-2]:
        raise AttentionError("mask_square", name="allowed", shape=tuple(allowed.shape))
    itself = torch.eye(allowed.shape[-1], dtype=torch.bool, device=allowed.device)
    step, reached = (allowed | itself).float(), itself.expand_as(allowed)
    lengths = torch.where(reached, 0.0, torch.inf)
    for steps in range(1, allowed.shape[-1]):
        further = step @ reached.float() > 0  # (T, T) x (T, T): whom i attends to, and what these have heard
        if torch.equal(further, reached):
            break
        lengths = torch.where(further & ~reached, float(steps), lengths)
        reached = further
    return lengths
