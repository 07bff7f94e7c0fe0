"""Bounds: never exceeded by random runs, reached by inputs made to reach them."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core import AttentionConfig, AttentionError, Weights, attend_qkv
from attention_core.analysis.score_bounds import additive_bound, cosine_ceiling
from tests.often import often

H, T, S, D, A = 2, 3, 5, 7, 11


def numbers(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@often(50)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.1, 1.0, 100.0]), apart=st.booleans())
def test_no_additive_score_is_larger(seed, size, apart):
    q, k = size * numbers(seed, 1, H, T, D), size * numbers(seed + 1, 1, H, S, D)
    v_a = numbers(seed + 2, H, A) if apart else numbers(seed + 2, A)
    weights = Weights(w_aq=numbers(seed + 3, D, A), w_ak=numbers(seed + 4, D, A), v_a=v_a)
    scores = attend_qkv(q, k, k, weights=weights, config=AttentionConfig(score="additive"))["scores"][0]  # (H, T, S)
    bound = additive_bound(v_a)
    assert bound.shape == ((H,) if apart else ())
    assert (scores.abs().amax((1, 2)) <= bound).all()


def test_the_additive_bound_is_reached():
    """A large q along each entry's sign: tanh is 1 where v_a is positive, -1 where it is negative."""
    v_a = torch.tensor([0.5, -2.0, 0.25]).double()
    weights = Weights(w_aq=v_a.sign()[None], w_ak=torch.zeros(1, 3).double(), v_a=v_a)
    q = torch.tensor([[50.0]]).double()
    trace = attend_qkv(q, q, q, weights=weights, config=AttentionConfig(score="additive"))
    assert trace["scores"].item() == additive_bound(v_a).item() == 2.75


@often(50)
@given(seed=st.integers(0, 10**6), keys=st.integers(1, 9), temperature=st.sampled_from([0.3, 1.0, 4.0]))
def test_no_weight_of_cosines_is_larger(seed, keys, temperature):
    config = AttentionConfig(score="cosine", temperature=temperature)
    trace = attend_qkv(numbers(seed, T, D), numbers(seed + 1, keys, D), numbers(seed + 2, keys, 1), config=config)
    assert trace["weights"].max() <= cosine_ceiling(keys, temperature) + 1e-12


@pytest.mark.parametrize("temperature", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("keys", [1, 2, 7])
def test_the_ceiling_is_reached(keys, temperature):
    """One key points as the query does, all others to the opposite side."""
    q = numbers(0, 1, D)
    k = torch.cat([3 * q, -0.5 * q.expand(keys - 1, D)])
    trace = attend_qkv(q, k, k, config=AttentionConfig(score="cosine", temperature=temperature))
    assert trace["weights"][0, 0, 0, 0].item() == pytest.approx(cosine_ceiling(keys, temperature), abs=1e-10)
    e = math.exp(1 / temperature)
    assert cosine_ceiling(keys, temperature) == pytest.approx(e**2 / (e**2 + keys - 1), abs=1e-12)


def test_what_has_no_ceiling():
    for keys in (0, 1.5, True):
        with pytest.raises(AttentionError, match="keys must be a positive whole number"):
            cosine_ceiling(keys)
    with pytest.raises(AttentionError, match="temperature must be a finite number above 0"):
        cosine_ceiling(3, 0.0)
    assert cosine_ceiling(5, 1e-6) == 1.0  # nothing overflows
