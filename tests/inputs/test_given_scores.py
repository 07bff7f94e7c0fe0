"""One query drawn with its keys, as parts of two Setups: the numbers, and what the runs make of them."""

import math

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.inputs.given_scores import MAX_LINKED_WIDTH, draw_query_and_keys


def run(parts):
    """The run of a part."""
    q, k, v = (torch.tensor(parts[name].packed.array()) for name in "qkv")
    return attend_qkv(q, k, v, config=AttentionConfig(parts["score"], scale=parts.get("scale")))


@pytest.mark.parametrize("d_k, keys", [(1, 2), (7, 5), (64, 64), (MAX_LINKED_WIDTH + 1, 3), (1024, 61)])
def test_both_runs_have_the_same_scores_and_only_one_is_divided(d_k, keys):
    parts = draw_query_and_keys(d_k, keys, seed=3)
    undivided, divided = run(parts["dot"]), run(parts["scaled_dot"])
    scores = undivided["scores"]
    assert scores.shape == (1, 1, 1, keys)
    assert torch.equal(scores, divided["scores"])
    assert torch.equal(undivided["scaled_scores"], scores)
    assert divided["scaled_scores"].numpy() == pytest.approx(scores.numpy() / math.sqrt(d_k), rel=1e-14)
    values = parts["dot"]["v"].packed.array()[:, 0]
    assert values == pytest.approx(scores[0, 0, 0].numpy(), abs=1e-10)
    assert parts["dot"]["q"].packed.shape == (1, d_k if d_k <= MAX_LINKED_WIDTH else 1)


def test_the_numbers_are_those_of_a_standard_normal_law_to_two_decimals():
    k = draw_query_and_keys(64, 64, seed=1)["dot"]["k"].packed.array()
    assert np.array_equal(k, k.round(2))
    assert abs(k.mean()) < 5 / 64
    assert k.var() == pytest.approx(1, abs=5 * math.sqrt(2 / 4096))
    wide = [draw_query_and_keys(1024, 64, seed)["dot"]["k"].packed.array()[:, 0] for seed in range(20)]
    assert np.var(wide) == pytest.approx(1024, rel=0.3)  # 20 queries, 1,280 scores, those of one query hang together


def test_a_seed_says_it_all():
    state = torch.get_rng_state()
    assert draw_query_and_keys(7, 3, seed=1) == draw_query_and_keys(7, 3, seed=1) != draw_query_and_keys(7, 3, seed=2)
    assert torch.equal(torch.get_rng_state(), state)


def test_too_many_keys_are_refused():
    with pytest.raises(AttentionError, match="at most 512 rows"):
        draw_query_and_keys(1, 513)
