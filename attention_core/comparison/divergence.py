"""How far two rows of weights lie apart: how much attention has moved, and how surprising the one is to the other."""

import torch
from jaxtyping import Float
from torch import Tensor


def total_variation(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""$\tfrac12 \sum_s |p_s - q_s|$: how much of a whole has moved.

    0 where both are the same, 1 where they share nothing. Two rows that are blocked, all 0, are the same.

    p, q: shares along the last axis. Source: Levin, Peres, Wilmer 2009, Markov Chains and Mixing Times, section 4.1.

    >>> total_variation(torch.tensor([0.7, 0.3]), torch.tensor([0.2, 0.8]))
    tensor(0.5000)
    """
    return (p - q).abs().sum(-1) / 2


def kl_divergence(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""$\sum_s p_s \ln (p_s / q_s) - p_s + q_s$, in nats: what expecting q costs where p is so (Kullback-Leibler).

    0 ln 0 is 0. Infinite where q has 0 and p has not. Rows that sum to 1 make the last two terms vanish; of others,
    which somebody chose or a mask blocked, they keep the sum from falling below 0. Two rows that are blocked, all 0,
    give 0.

    p, q: shares along the last axis. Sources: Kullback, Leibler 1951, On Information and Sufficiency; for rows that do
    not sum to 1, Csiszár 1991, Why Least Squares and Maximum Entropy?

    >>> kl_divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5]))  # ln 2
    tensor(0.6931)
    >>> kl_divergence(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]))
    tensor(inf)
    """
    return (torch.xlogy(p, p) - torch.xlogy(p, q) - p + q).sum(-1).clamp(min=0.0)
