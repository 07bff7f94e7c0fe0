"""Figures of merit: by hand, and by loops over Python's numbers."""

import math
from itertools import combinations

import pytest
import torch

from attention_core.comparison.measures import (
    attention_perplexity,
    largest_precision_error,
    mean_moved_weight,
    mean_offset,
    mean_pairwise_head_distance,
)
from attention_core.record.errors import AttentionError

H, T, S = 3, 5, 7


@pytest.fixture
def weights(generator):
    scores = torch.randn(H, T, S, generator=generator, dtype=torch.float64)
    return scores.masked_fill(scores < -1, -torch.inf).softmax(-1)


def test_spread_by_hand():
    assert attention_perplexity(torch.tensor([0.0, 1.0, 0.0]).double()) == 1.0
    assert attention_perplexity(torch.full((8,), 0.125).double()) == pytest.approx(8.0, abs=1e-12)
    assert attention_perplexity(torch.tensor([0.5, 0.25, 0.25]).double()) == pytest.approx(
        2**1.5, abs=1e-12
    )  # 1.5 bits
    assert attention_perplexity(torch.zeros(4).double()) == 0.0


def test_spread_by_a_loop(weights):
    for row in weights.flatten(0, 1):
        entropy = -sum(w * math.log(w) for w in row.tolist() if w > 0)
        assert attention_perplexity(row) == pytest.approx(math.exp(entropy), rel=1e-12)


def test_heads_apart_by_loops(weights):
    found = []
    for one, other in combinations(weights.tolist(), 2):
        for p, q in zip(one, other, strict=True):
            found.append(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
    assert mean_pairwise_head_distance(weights) == pytest.approx(sum(found) / len(found), abs=1e-14)
    assert mean_pairwise_head_distance(weights[:1]) == 0.0
    assert mean_pairwise_head_distance(weights[[0, 0]]) == 0.0


@pytest.mark.parametrize("first", [0, 2])
def test_mean_offset_by_loops(weights, first):
    rows = weights[0].clone()
    rows[1] = 0  # a query that may attend to nothing counts for nothing
    means = [sum(w * (j - i - first) for j, w in enumerate(row)) for i, row in enumerate(rows.tolist()) if any(row)]
    assert mean_offset(rows, first) == pytest.approx(sum(means) / 4, abs=1e-13)
    assert mean_offset(torch.zeros(2, 3)) == 0.0


def test_largest_error_by_torch(weights):
    half = weights.to(torch.float16)
    assert largest_precision_error(half, weights) == (half.double() - weights).abs().max().item() > 0
    assert largest_precision_error(half.masked_fill(half == half.max(), torch.nan), weights) == math.inf


def test_moved_weight_is_half_of_what_differs_a_query():
    one, other = (torch.randn(2, 3, 5, 7, generator=torch.Generator().manual_seed(n)).softmax(-1) for n in (1, 2))
    moved = mean_moved_weight(one, other)
    for a in range(2):
        for b in range(3):
            apart = [float((one[a, b, t] - other[a, b, t]).abs().sum()) / 2 for t in range(5)]
            assert float(moved[a, b]) == pytest.approx(sum(apart) / 5, rel=1e-5)
    with pytest.raises(AttentionError):
        mean_moved_weight(one, other[..., :5, :5])
