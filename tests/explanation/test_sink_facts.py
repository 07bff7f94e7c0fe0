"""What a row does where a sink takes a part of it, or where every key is weighed for itself."""

import math

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend_qkv
from attention_core.explanation.facts import row_fact


def fact_of(scores: list[float], normaliser: str = "softmax", weights: Weights | None = None):
    """The fact of one query with these scores: q is 1, k the scores."""
    q, k = torch.ones(1, 1).double(), torch.tensor(scores).double()[:, None]
    config = AttentionConfig("dot", normaliser=normaliser)
    return row_fact(attend_qkv(q, k, k, weights=weights, config=config), head=0, query=0)


def sunk_fact(scores: list[float], sink: float):
    return fact_of(scores, "sinks", Weights(sinks=torch.tensor([sink]).double()))


def test_most_of_what_the_sink_leaves():
    """Powers 1, 1, 4 and the sink's 6: shares 1/12, 1/12, 4/12, and half of all is sunk."""
    fact = sunk_fact([0, 0, math.log(4)], math.log(6))
    assert (fact.kind, fact.keys) == ("most", (2,))
    assert (fact.share, fact.sunk, fact.total) == pytest.approx((1 / 3, 0.5, 0.5))
    assert fact.even == pytest.approx(1 / 6) and fact.ratio == pytest.approx(2)
    assert fact.rest == pytest.approx(2 / 3)


def test_even_rows_stay_even_beside_a_sink():
    fact = sunk_fact([1, 1, 1], 1.0)
    assert (fact.kind, fact.share, fact.sunk) == ("even", pytest.approx(1 / 4), pytest.approx(1 / 4))
    assert fact.ratio == pytest.approx(1)


def test_two_keys_of_which_one_has_most_are_not_nearly_even():
    """Powers 5 and 1, and 5 of the sink: 45 % and 9 %, though 45 % is less than an even half."""
    assert sunk_fact([math.log(5), 0], math.log(5)).kind == "most"


def test_a_sink_far_above_all_scores_takes_all():
    fact = sunk_fact([0, 1], 1e3)
    assert (fact.kind, fact.share, fact.sunk, fact.ratio) == ("even", 0.0, 1.0, 0.0)


def test_a_softmax_sinks_nothing():
    assert fact_of([0, 0, math.log(4)]).sunk == 0


def test_a_sigmoid_has_no_shares():
    fact = fact_of([0, math.log(3)], "sigmoid")
    assert (fact.kind, fact.keys, fact.sunk) == ("free", (1,), 0)
    assert (fact.share, fact.total) == pytest.approx((0.75, 1.25))
