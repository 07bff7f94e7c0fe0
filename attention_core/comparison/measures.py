"""Measures a run by a single number, to compare runs that differ in one setting."""

from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference, total_variation
from attention_core.record.errors import AttentionError


def attention_perplexity(row: Float[Tensor, " S"]) -> float:
    r"""Compute the perplexity of a query's weights, $e^H$ with $H = -\sum_s w_s \ln w_s$: the effective number of keys.

    The result is 1 if one key has all weight, n if n keys have equal weights, 0 if the query may not attend to any key.

    row: the weights of one query. Source: Jelinek, Mercer, Bahl, Baker 1977, Perplexity.

    >>> round(attention_perplexity(torch.tensor([0.5, 0.5, 0.0])), 4), attention_perplexity(torch.zeros(3))
    (2.0, 0.0)
    """
    row = row.double()
    if not row.any():
        return 0.0
    entropy = torch.special.entr(row).sum()
    return entropy.exp().item()


def mean_pairwise_head_distance(weights: Float[Tensor, "H T S"]) -> float:
    """Compute the mean total variation distance between heads, over all pairs of heads and all queries.

    The result is 0 if all heads have the same weights or if there is only one head, 1 if no two heads attend to the
    same key.

    >>> mean_pairwise_head_distance(torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]])) # (1 + 1/2 + 1/2) / 3
    0.6666666666666666
    """
    heads = weights.double()
    distances = []
    for one, other in combinations(heads, 2):
        distances.append(total_variation(one, other).mean())
    if not distances:
        return 0.0
    return torch.stack(distances).mean().item()


def mean_moved_weight(
    weights: Float[Tensor, "*heads T S"], other: Float[Tensor, "*heads T S"]
) -> Float[Tensor, "*heads"]:
    """Compute how much of a head's weight is on other positions in a second text of equal length.

    The result is the total variation distance of the rows in both texts, averaged over the queries: 0 if the head has
    the same weights in both texts, 1 if the head never attends to the same position.

    weights, other: the weights of the same heads on both texts. Raises AttentionError (a ValueError): weight_shape.

    >>> mean_moved_weight(torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    tensor(0.2500)
    """
    if weights.shape != other.shape:
        raise AttentionError("weight_shape", weight="other", axes=tuple(weights.shape), shape=tuple(other.shape))
    return total_variation(weights, other).mean(-1)  # (..., T, S) -> (..., T) -> (...)


def mean_offset(weights: Float[Tensor, "T S"], first: int = 0) -> float:
    """Compute the mean offset of keys from their query, weighted by attention, over queries that attend to any key.

    A result below 0 means that most weight is before the query.

    first: the position of the first query among the keys.

    >>> mean_offset(torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    1.0
    """
    rows = weights.double()
    T, S = rows.shape
    queries = torch.arange(first, first + T, device=rows.device)
    keys = torch.arange(S, device=rows.device)
    offsets = keys - queries[:, None]  # (S,) - (T, 1) -> (T, S)
    weighted = (rows * offsets).sum(-1)
    totals = rows.sum(-1)
    attending = totals > 0
    if not attending.any():
        return 0.0
    means = weighted / totals
    return means[attending].mean().item()


def largest_precision_error(weights: Float[Tensor, "..."], exact: Float[Tensor, "..."]) -> float:
    """Compute the largest difference of weights in two precisions; infinite if a cell is NaN in only one of the two.

    >>> largest_precision_error(torch.tensor([0.5, 0.25]), torch.tensor([0.5, 0.5]))
    0.25
    """
    return abs_difference(weights, exact).max().item()


def measure_moves(before: Float[Tensor, "N D"], after: Float[Tensor, "N D"]) -> Float[Tensor, " N"]:
    r"""Return how far each vector moved, as a share of its length: $|after - before| / |before|$.

    >>> measure_moves(torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.tensor([[3.0, 4.0], [1.0, 0.5]])).tolist()
    [0.0, 0.5]
    """
    apart = torch.linalg.vector_norm(after.double() - before.double(), dim=-1)
    return apart / torch.linalg.vector_norm(before.double(), dim=-1).clamp(min=torch.finfo(torch.float64).tiny)
