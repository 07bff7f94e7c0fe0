"""Attention rollout beside a naive loop over all ways through the layers."""

from itertools import product

import pytest
import torch

from attention_core.analysis.across_layers import roll_out
from attention_core.record.errors import AttentionError


def draw_weights():
    rng = torch.Generator().manual_seed(5)
    return torch.rand(3, 2, 5, 5, generator=rng, dtype=torch.float64).softmax(-1)  # (L, H, T, T)


def test_it_is_the_sum_over_all_ways_from_the_last_word_to_the_first():
    weights = draw_weights()
    expected = torch.zeros(5, 5, dtype=torch.float64)
    for top, upper, lower, start in product(range(5), repeat=4):
        share = 1.0
        for layer, query, key in ((2, top, upper), (1, upper, lower), (0, lower, start)):
            mean = sum(float(head[query, key]) for head in weights[layer]) / 2
            share *= 0.5 * mean + 0.5 * (query == key)
        expected[top, start] += share
    assert torch.allclose(roll_out(weights)[-1], expected, atol=1e-12)


def test_all_rows_sum_to_one_and_a_mask_is_kept():
    rolled = roll_out(draw_weights().tril() / draw_weights().tril().sum(-1, keepdim=True))
    assert torch.allclose(rolled.sum(-1), torch.ones(3, 5, dtype=torch.float64))
    assert not rolled.triu(1).any()


def test_what_has_other_axes_is_refused():
    with pytest.raises(AttentionError, match="weights must have the axes"):
        roll_out(torch.ones(3, 5, 5))
