"""Measures attention heads on a sentence: how much weight is on certain keys, and how evenly the weight spreads."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.errors import AttentionError

MEASURES = ("previous", "same", "first", "earlier", "evenness", "entropy")


def measure_head_maps(
    weights: Float[Tensor, "*heads T S"],
    token_ids: Sequence[int] | None = None,
    allowed: Bool[Tensor, "T S"] | None = None,
) -> dict[str, Float[Tensor, "*heads"]]:
    """Measure what each head does over the queries of one self-attention run on a sentence.

    - previous: the mean weight on the word before, over the queries that have one.
    - same: the mean weight on the query's own word.
    - first: the mean weight on the first word, over the queries after it.
    - earlier: the mean weight on all earlier occurrences of the query's word, over the queries that have one; only with
      token_ids.
    - evenness: the mean of entropy / log2(number of allowed keys); 1 for uniform weights.
    - entropy: the mean of -sum w log2 w, in bits.

    A query with at most one allowed key does not count. A measure without a query that counts is NaN.

    weights: (..., T, S), with T = S and rows that sum to 1. token_ids: T numbers, equal for equal words. allowed: (T,
    S), True = may attend; by default, the pairs to which some head gives a weight.

    Raises AttentionError (a ValueError) if the queries are not the keys, or token_ids or allowed do not fit them.

    Source: previous, first and broad heads: Clark et al. 2019, "What Does BERT Look At?", sections 3.1 and 3.3.

    >>> causal = torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0]])
    >>> allowed = torch.ones(3, 3).tril() > 0
    >>> {name: float(value) for name, value in measure_head_maps(causal, [7, 8, 7], allowed).items()}
    {'previous': 0.75, 'same': 0.25, 'first': 0.25, 'earlier': 0.0, 'evenness': 0.5, 'entropy': 0.5}
    """
    queries, keys = weights.shape[-2:]
    if queries != keys:
        raise AttentionError("mask_square", name="weights", shape=(queries, keys))
    if token_ids is not None and len(token_ids) != queries:
        raise AttentionError("weight_shape", weight="token_ids", axes=f"({queries},)", shape=(len(token_ids),))
    if allowed is None:
        allowed = seen_pairs(weights)
    if allowed.shape != (queries, keys):
        raise AttentionError("mask_square", name="allowed", shape=tuple(allowed.shape))
    counted = allowed.sum(-1) > 1  # (T,)
    places = torch.arange(queries)
    measures = {
        "previous": mean_share(weights, places[:, None] - 1 == places, counted),
        "same": mean_share(weights, places[:, None] == places, counted),
        "first": mean_share(weights, (places == 0) & (places[:, None] > 0), counted),
    }
    if token_ids is not None:
        ids = torch.as_tensor(token_ids)
        earlier_same = (ids[:, None] == ids).tril(-1)  # (T, T)
        measures["earlier"] = mean_share(weights, earlier_same, counted)
    return measures | measure_spread(weights, allowed)


def measure_spread(
    weights: Float[Tensor, "*heads T S"], allowed: Bool[Tensor, "T S"] | None = None
) -> dict[str, Float[Tensor, "*heads"]]:
    """Measure how evenly each head spreads its weight: the mean entropy in bits, and the mean of entropy / log2(allowed
    keys).

    A query with at most one allowed key does not count. T and S may differ, unlike in measure_head_maps. weights: (...,
    T, S), rows that sum to 1. allowed: (T, S), True = may attend; by default, the pairs to which some head gives a
    weight.

    >>> half = torch.tensor([[0.5, 0.5, 0, 0]])
    >>> {name: float(value) for name, value in measure_spread(half, torch.ones(1, 4) > 0).items()}
    {'evenness': 0.5, 'entropy': 1.0}
    """
    if allowed is None:
        allowed = seen_pairs(weights)
    possible = allowed.sum(-1)  # (T,)
    counted = possible > 1
    entropies = torch.special.entr(weights).sum(-1) / math.log(2)  # (..., T)
    most = possible[counted].to(weights.dtype).log2()  # (counted,)
    return {
        "evenness": (entropies[..., counted] / most).mean(-1),
        "entropy": entropies[..., counted].mean(-1),
    }


def seen_pairs(weights: Float[Tensor, "*heads T S"]) -> Bool[Tensor, "T S"]:
    """Return a boolean tensor that is True for pairs (query, key) with a nonzero weight in at least one head.

    >>> seen_pairs(torch.tensor([[[1.0, 0, 0]], [[0, 1, 0]]])).tolist()
    [[True, True, False]]
    """
    return (weights != 0).reshape(-1, *weights.shape[-2:]).any(0)  # (..., T, S) -> (heads, T, S) -> (T, S)


def mean_share(
    weights: Float[Tensor, "*heads T S"], meant: Bool[Tensor, "T S"], counted: Bool[Tensor, " T"]
) -> Float[Tensor, "*heads"]:
    """Return each head's mean total weight on the keys marked in `meant`, such as the position before each query.

    The mean is over those queries marked in `counted` that have at least one key marked in `meant`.
    """
    rows = counted & meant.any(-1)  # (T,)
    shares = (weights * meant).sum(-1)  # (..., T)
    return shares[..., rows].mean(-1)
