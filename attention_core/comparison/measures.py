"""Figures of merit: one number for what a run does, by which runs that differ in one setting can be told apart."""

from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference, total_variation


def attention_perplexity(row: Float[Tensor, " S"]) -> float:
    r"""Over how many keys a query spreads its attention: $e^H$ with $H = -\sum_s w_s \ln w_s$, the perplexity.

    1 where one key gets all, n where n keys get the same, 0 where the query may attend to nothing.

    row: the weights of one query. Source: Jelinek, Mercer, Bahl, Baker 1977, Perplexity.

    >>> round(attention_perplexity(torch.tensor([0.5, 0.5, 0.0])), 4), attention_perplexity(torch.zeros(3))
    (2.0, 0.0)
    """
    row = row.double()
    return torch.special.entr(row).sum().exp().item() if row.any() else 0.0


def mean_pairwise_head_distance(weights: Float[Tensor, "H T S"]) -> float:
    """How far two heads' weights lie apart: the mean total variation over all pairs of heads and all queries.

    0 where all heads do the same, or there is one alone; 1 where no two of them attend to a common key.

    >>> mean_pairwise_head_distance(torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]])) # (1 + 1/2 + 1/2) / 3
    0.6666666666666666
    """
    rows = weights.double()
    pairs = [total_variation(one, other).mean() for one, other in combinations(rows, 2)]
    return torch.stack(pairs).mean().item() if pairs else 0.0


def mean_offset(weights: Float[Tensor, "T S"], first: int = 0) -> float:
    """How far on from a query its keys stand, each as often as it is attended to: the mean over all queries that attend
    to something. Below 0: keys before the query.

    first: where the first query stands among the keys.

    >>> mean_offset(torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    1.0
    """
    rows = weights.double()
    T, S = rows.shape
    ahead = torch.arange(S) - torch.arange(first, first + T)[:, None]  # (S,) - (T, 1) -> (T, S)
    whole = rows.sum(-1)
    some = whole > 0
    return ((rows * ahead).sum(-1)[some] / whole[some]).mean().item() if some.any() else 0.0


def largest_precision_error(weights: Float[Tensor, "..."], exact: Float[Tensor, "..."]) -> float:
    """How far a weight lies from what it is in another precision, at most. Infinite where one of both is no number.

    >>> largest_precision_error(torch.tensor([0.5, 0.25]), torch.tensor([0.5, 0.5]))
    0.25
    """
    return abs_difference(weights, exact).max().item()
